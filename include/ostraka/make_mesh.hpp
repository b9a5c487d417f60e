// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. How a mesh of devices is made: `os::make_mesh(X = 2, Y = 4)`, over all processes of the job, those of a
/// communicator, this one alone, or none.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ostraka/engine/collectives/communicator.hpp>
#include <ostraka/engine/machine/exclusive_use.hpp>
#include <ostraka/engine/memory/dynamic_array.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>
#include <ostraka/engine/spmd/check_mode.hpp>
#include <ostraka/engine/spmd/ended.hpp>
#include <ostraka/engine/spmd/peer_monitor.hpp>
#include <ostraka/engine/spmd/same_calls.hpp>
#include <ostraka/mesh.hpp>
#include <ostraka/types/error.hpp>

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

inline int checked_mesh_size(std::string_view name, std::int64_t extent, std::int64_t given) {
  if (extent != dynamic_extent && given != extent)
    throw error("make_mesh: the mesh axis " + std::string(name) + " has the static size " + std::to_string(extent) +
                ", but " + std::to_string(given) + " was given; give that size or declare the axis without one");
  if (given > std::numeric_limits<int>::max())
    throw error("make_mesh: the size of the mesh axis " + std::string(name) +
                " is larger than any communicator; give a smaller one");
  return static_cast<int>(given);
}

template <class M>
int checked_mesh_size(named_extent<M> n) {
  return checked_mesh_size(M::name, M::extent, n.value);
}

// The processes that are a mesh's devices. Those of a communicator duplicate it, collectively.
struct mesh_processes {
  enum class kind { of_communicator, this_one, none } which = kind::of_communicator;
  engine::native_communicator communicator{};
};

// A template so that ostraka::compiled can hold it.
template <class = void>
[[gnu::cold]] engine::device_mesh const* make_device_mesh(mesh_processes processes, std::string_view const* axes,
                                                          engine::dynamic_array<int> const& sizes) {
  std::vector<std::string> names(axes, axes + sizes.size());
  if (processes.which == mesh_processes::kind::none)
    return new engine::device_mesh const(engine::device_mesh::absent(std::move(names), sizes));
  if (processes.which == mesh_processes::kind::this_one)
    return new engine::device_mesh const(engine::communicator(), std::move(names), sizes);
  engine::exclusive_use const use = engine::use_mpi("make_mesh");
  engine::require_agreement_to_create("make_mesh", processes.communicator);
  return new engine::device_mesh const(engine::communicator(processes.communicator), std::move(names), sizes);
}

// (std::make_shared would save an allocation for each mesh, and cost each program 40 ms of compile time.)
template <class... Ms>
mesh<Ms...> make_mesh_of(mesh_processes processes, named_extent<Ms>... sizes) {
  using twice = first_repeated<type_list<Ms...>>;
  if constexpr (!std::is_void_v<twice>) reason::raise<reason::extent_given_twice<twice>>();
  return mesh<Ms...>(std::shared_ptr<engine::device_mesh const>(
      make_device_mesh(processes, names_of<type_list<Ms...>>.data(), {checked_mesh_size(sizes)...})));
}

inline void require_running() {
  engine::tell_build();
  engine::observe_groups();
  engine::require_not_ended("make_mesh");
#if OSTRAKA_ENABLE_MPI
  int running = 0;
  MPI_Initialized(&running);
  if (!running) throw error("make_mesh: MPI is not running; make an os::environment first");
#endif
  if (!Kokkos::is_initialized()) throw error("make_mesh: Kokkos is not running; make an os::environment first");
  engine::foresee_end();
}

inline mesh_processes processes_of(engine::native_communicator comm) {
#if OSTRAKA_ENABLE_MPI
  if (comm == MPI_COMM_NULL) return {mesh_processes::kind::none, comm};
  int joins_two_groups = 0;
  MPI_Comm_test_inter(comm, &joins_two_groups);
  if (joins_two_groups)
    throw error(
        "make_mesh: a mesh is made over one group of processes, but an intercommunicator was given, which joins two; merge them with "
        "MPI_Intercomm_merge first");
#endif
  return {mesh_processes::kind::of_communicator, comm};
}

template <class T>
inline constexpr bool names_a_size = MeshAxis<T>;
template <class M>
inline constexpr bool names_a_size<named_extent<M>> = MeshAxis<M>;

}  // namespace detail

/// A mesh over all processes of the job: `make_mesh(X = 2, Y = 4)`; a mesh axis with a static size may stand alone.
/// Collective. @throws ostraka::error, on all processes alike, if the product of the sizes is not their number.
template <class... Sizes>
  requires(detail::names_a_size<Sizes> && ...)
[[nodiscard]] auto make_mesh(Sizes... sizes) {
  detail::require_running();
  return detail::make_mesh_of({detail::mesh_processes::kind::of_communicator, engine::all_ranks()},
                              detail::as_mesh_size(sizes)...);
}

namespace detail {

// Waits for the call that it stands after, so that it is not made wherever this is included.
template <class... Arguments>
struct mesh_of_nothing {
  using type = mesh<>;
};

}  // namespace detail

/// Says that sizes have names.
template <class First, class... Given>
  requires(std::is_arithmetic_v<First> && (std::is_arithmetic_v<Given> && ...))
auto make_mesh(First, Given...) {
  reason::raise<reason::mesh_size_without_a_name<First, Given...>>();
  return typename detail::mesh_of_nothing<First, Given...>::type(nullptr);
}

/// This process alone, in the place of a communicator.
struct this_device_only {};
inline constexpr this_device_only this_device{};

/// A mesh of this process alone: `make_mesh(os::this_device, X = 1)`. Not collective.
template <class... Sizes>
  requires(detail::names_a_size<Sizes> && ...)
[[nodiscard]] auto make_mesh(this_device_only, Sizes... sizes) {
  detail::require_running();
  return detail::make_mesh_of({detail::mesh_processes::kind::this_one, {}}, detail::as_mesh_size(sizes)...);
}

/// No process, in the place of a communicator.
struct not_here_only {};
inline constexpr not_here_only not_here{};

/// The mesh on a process that is none of its devices: `make_mesh(os::not_here, X = 2)`. Not collective.
template <class... Sizes>
  requires(detail::names_a_size<Sizes> && ...)
[[nodiscard]] auto make_mesh(not_here_only, Sizes... sizes) {
  detail::require_running();
  return detail::make_mesh_of({detail::mesh_processes::kind::none, {}}, detail::as_mesh_size(sizes)...);
}

/// A mesh over the processes of a communicator, which is duplicated. Collective over it. Processes outside of it give
/// what MPI_Comm_split gave them, MPI_COMM_NULL, and the same sizes: the mesh is absent there.
/// @throws ostraka::error, on all its processes alike, if the product of the sizes is not their number, or for an
/// intercommunicator
template <class... Sizes>
  requires(detail::names_a_size<Sizes> && ...)
[[nodiscard]] auto make_mesh(engine::native_communicator comm, Sizes... sizes) {
  detail::require_running();
  return detail::make_mesh_of(detail::processes_of(comm), detail::as_mesh_size(sizes)...);
}

}  // namespace ostraka
