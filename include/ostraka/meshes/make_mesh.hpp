// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Makes a mesh of devices, `os::make_mesh(X = 2, Y = 4)`, over all processes of the job, over those of a
/// communicator, over this one alone, or over none.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <ostraka/engine/call_check/observe_groups.hpp>
#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/groups/communicator.hpp>
#include <ostraka/engine/machine/exclusive_use.hpp>
#include <ostraka/engine/machine/job_of_mpi.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/engine/spmd/check_mode.hpp>
#include <ostraka/engine/spmd/ended.hpp>
#include <ostraka/meshes/mesh.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace detail {

template <class M>
named_extent<M> as_mesh_size(named_extent<M> n) {
  return n;
}

template <MeshAxis M>
  requires(M::extent != dynamic_extent)
named_extent<M> as_mesh_size(M m) {
  return {m, M::extent};
}

template <MeshAxis M>
  requires(M::extent == dynamic_extent)
named_extent<M> as_mesh_size(M m) {
  reason::raise<reason::missing_extent<M>>();
  return {m, 1};
}

[[gnu::cold]] inline int checked_mesh_size(std::string_view name, std::int64_t extent, std::int64_t given) {
  if (extent != dynamic_extent && given != extent)
    throw_error("make_mesh: the mesh axis ", name, " has the static size ", extent, ", but ", given,
                " was given; give that size or declare the axis without one");
  if (given > std::numeric_limits<int>::max())
    throw_error("make_mesh: the size of the mesh axis ", name, " is larger than any communicator; give a smaller one");
  return static_cast<int>(given);
}

template <class M>
[[gnu::cold]] int checked_mesh_size(named_extent<M> n) {
  return checked_mesh_size(M::name, M::extent, n.value);
}

// The processes that are a mesh's devices. If a communicator gives them, the mesh duplicates it, collectively.
struct mesh_processes {
  enum class kind { of_communicator, this_one, none } which = kind::of_communicator;
  engine::native_communicator communicator{};
};

// A template so that ostraka::compiled can hold it.
template <class = void>
[[gnu::cold]] engine::device_mesh const* make_device_mesh(mesh_processes processes, std::string_view const* axes,
                                                          dynamic_array<int> const& sizes,
                                                          engine::node_request const& nodes) {
  dynamic_array<std::string> names;
  for (std::size_t a = 0; a < sizes.size(); ++a) names.push_back(std::string(axes[a]));
  if (processes.which == mesh_processes::kind::none)
    return new engine::device_mesh const(engine::device_mesh::absent(std::move(names), sizes));
  if (processes.which == mesh_processes::kind::this_one)
    return new engine::device_mesh const(engine::communicator(), std::move(names), sizes);
  engine::exclusive_use const use = engine::use_mpi("make_mesh");
  engine::require_agreement_to_create("make_mesh", processes.communicator);
  return new engine::device_mesh const(engine::communicator(processes.communicator), std::move(names), sizes, nodes);
}

// (std::make_shared would save an allocation for each mesh, and cost each program 40 ms of compile time.)
template <class... Ms>
[[gnu::cold]] mesh<Ms...> make_mesh_of(mesh_processes processes, engine::node_request const& nodes,
                                       named_extent<Ms>... sizes) {
  using twice = first_repeated<type_list<Ms...>>;
  if constexpr (!std::is_void_v<twice>) reason::raise<reason::extent_given_twice<twice>>();
  return mesh<Ms...>(std::shared_ptr<engine::device_mesh const>(
      make_device_mesh(processes, names_of<type_list<Ms...>>.data(), {checked_mesh_size(sizes)...}, nodes)));
}

[[gnu::cold]] inline void require_running() {
  engine::set_debug_build();
  engine::observe_groups();
  engine::require_not_ended("make_mesh");
  if (!engine::mpi_has_begun()) throw_error("make_mesh: MPI is not running; make an os::environment first");
  if (!Kokkos::is_initialized())
    throw_error(
        "make_mesh: Kokkos is not running; make an os::environment first, or, if the program has made one, let this "
        "library share it (docs/shared-libraries.md)");
  engine::register_end_hooks();
}

[[gnu::cold]] inline mesh_processes processes_of(engine::native_communicator comm) {
  if (engine::is_none(comm)) return {mesh_processes::kind::none, comm};
  if (engine::joins_two_groups(comm))
    throw_error(
        "make_mesh: a mesh is made over one group of processes, but an intercommunicator was given, which joins two; "
        "merge them with MPI_Intercomm_merge first");
  return {mesh_processes::kind::of_communicator, comm};
}

template <class T>
inline constexpr bool names_a_size = MeshAxis<T>;
template <class M>
inline constexpr bool names_a_size<named_extent<M>> = MeshAxis<M>;

}  // namespace detail

/// A mesh over all processes of the job: `make_mesh(X = 2, Y = 4)`; a mesh axis with a static size may be given without
/// a number. Collective. @throws ostraka::error, on all processes alike, if the product of the sizes is not their
/// number.
template <class... Sizes>
  requires(detail::names_a_size<Sizes> && ...)
[[nodiscard]] auto make_mesh(Sizes... sizes) {
  detail::require_running();
  return detail::make_mesh_of({detail::mesh_processes::kind::of_communicator, engine::all_ranks()}, {},
                              detail::as_mesh_size(sizes)...);
}

namespace detail {

// Depends on the call's arguments, so that it is instantiated only by a call and not by each inclusion of this file.
template <class... Arguments>
struct mesh_of_nothing {
  using type = mesh<>;
};

}  // namespace detail

/// Does not compile: the error says that sizes are given by name.
template <class First, class... Given>
  requires(std::is_arithmetic_v<First> && (std::is_arithmetic_v<Given> && ...))
auto make_mesh(First, Given...) {
  reason::raise<reason::mesh_size_without_a_name<First, Given...>>();
  return typename detail::mesh_of_nothing<First, Given...>::type(nullptr);
}

/// The type of os::this_device, which names this process alone in place of a communicator.
struct this_device_only {};
inline constexpr this_device_only this_device{};

/// A mesh of this process alone: `make_mesh(os::this_device, X = 1)`. Not collective.
template <class... Sizes>
  requires(detail::names_a_size<Sizes> && ...)
[[nodiscard]] auto make_mesh(this_device_only, Sizes... sizes) {
  detail::require_running();
  return detail::make_mesh_of({detail::mesh_processes::kind::this_one, {}}, {}, detail::as_mesh_size(sizes)...);
}

/// The type of os::not_here, which names no process in place of a communicator.
struct not_here_only {};
inline constexpr not_here_only not_here{};

/// The mesh on a process that is not one of its devices: `make_mesh(os::not_here, X = 2)`. Not collective.
template <class... Sizes>
  requires(detail::names_a_size<Sizes> && ...)
[[nodiscard]] auto make_mesh(not_here_only, Sizes... sizes) {
  detail::require_running();
  return detail::make_mesh_of({detail::mesh_processes::kind::none, {}}, {}, detail::as_mesh_size(sizes)...);
}

/// A mesh over the processes of a communicator, which is duplicated. Collective over it. Processes outside it pass the
/// MPI_COMM_NULL that MPI_Comm_split returned to them, and the same sizes: the mesh is absent there.
/// @throws ostraka::error, on all its processes alike, if the product of the sizes is not their number, or for an
/// intercommunicator
template <class... Sizes>
  requires(detail::names_a_size<Sizes> && ...)
[[nodiscard]] auto make_mesh(engine::native_communicator comm, Sizes... sizes) {
  detail::require_running();
  return detail::make_mesh_of(detail::processes_of(comm), {}, detail::as_mesh_size(sizes)...);
}

/// The number of devices of a node, in place of MPI's answer.
struct node_size {
  int devices = 1;
};

/// `make_mesh(os::devices_per_node(4), X = 2, Y = 8)`: four consecutive devices are a node, whether or not their ranks
/// share memory, as long as they run on one machine; for instance, on one of its sockets. A dry mesh needs it, because
/// MPI cannot tell the nodes there.
[[nodiscard]] constexpr node_size devices_per_node(int devices) { return {devices}; }

/// The block of a mesh that a node holds.
template <MeshAxis... Ms>
struct node_block {
  int devices[sizeof...(Ms)];

  template <class... Of>
  [[nodiscard]] dynamic_array<int> in(type_list<Of...>) const {
    return {of<Of>()...};
  }

 private:
  template <class M>
  [[nodiscard]] int of() const {
    if constexpr (is_one_of<M, Ms...>)
      return devices[position_in<M, type_list<Ms...>>];
    else
      return 1;
  }
};

/// `make_mesh(os::within_node(X = 2, Y = 4), X = 8, Y = 4)`: a node holds a block of 2 × 4 devices, so that X is a slow
/// axis of 4 times a fast one of 2. Mesh axes that are not named have one device within a node. Ranks are renumbered if
/// needed, so that the ranks of a machine fill node by node; MPI's rank is then not the device's number.
template <MeshAxis... Ms>
[[nodiscard]] node_block<Ms...> within_node(named_extent<Ms>... devices) {
  // Clamping keeps a number that is out of range invalid.
  return {{static_cast<int>(std::clamp<std::int64_t>(devices.value, 0, std::numeric_limits<int>::max()))...}};
}

namespace detail {

template <class... Ms>
engine::node_request nodes_of(node_size nodes, named_extent<Ms>...) {
  if (nodes.devices < 1)
    throw_error("devices_per_node: a node has at least one device, but ", nodes.devices,
                " was given; give how many ranks share a node");
  return engine::request_nodes(nodes.devices, {});
}

template <class Mesh, class Axes, class First, class... More>
constexpr void require_axes_of() {
  if constexpr (position_in<First, Axes> < 0)
    reason::raise<reason::unknown_mesh_axis<First, Mesh>>();
  else if constexpr (sizeof...(More) > 0)
    require_axes_of<Mesh, Axes, More...>();
}

template <class... Of, class... Ms>
engine::node_request nodes_of(node_block<Of...> const& nodes, named_extent<Ms>...) {
  require_axes_of<mesh<Ms...>, type_list<Ms...>, Of...>();
  return engine::request_nodes(0, nodes.in(type_list<Ms...>()));
}

template <class T>
inline constexpr bool is_node_option = std::is_same_v<T, node_size>;
template <class... Ms>
inline constexpr bool is_node_option<node_block<Ms...>> = true;

}  // namespace detail

/// A mesh with the nodes that the program gives. @throws ostraka::error, on all processes alike, if they do not divide
/// the mesh, or if one would have processes of several machines
template <class Nodes, class... Sizes>
  requires(detail::is_node_option<Nodes> && (detail::names_a_size<Sizes> && ...))
[[nodiscard]] auto make_mesh(Nodes nodes, Sizes... sizes) {
  detail::require_running();
  return detail::make_mesh_of({detail::mesh_processes::kind::of_communicator, engine::all_ranks()},
                              detail::nodes_of(nodes, detail::as_mesh_size(sizes)...), detail::as_mesh_size(sizes)...);
}

/// The same over the processes of a communicator.
template <class Nodes, class... Sizes>
  requires(detail::is_node_option<Nodes> && (detail::names_a_size<Sizes> && ...))
[[nodiscard]] auto make_mesh(engine::native_communicator comm, Nodes nodes, Sizes... sizes) {
  detail::require_running();
  return detail::make_mesh_of(detail::processes_of(comm), detail::nodes_of(nodes, detail::as_mesh_size(sizes)...),
                              detail::as_mesh_size(sizes)...);
}

}  // namespace ostraka
