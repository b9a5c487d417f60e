// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::reshard<I/Y, J>(A, mesh)`: any sharding on one mesh to any on another, over the same processes, or
/// fewer, or more. A[I_X, J] on {X: 8} → A[I_Y, J] on {Y: 2}. Mesh axes of the two are different axes, even if they
/// have the same name.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/engine/run/move_between.hpp>
#include <ostraka/moves/reshard.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/tensors/after_error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

/// The steps and bytes of a reshard between two meshes: the result of os::reshard_plan<dims…>(A, mesh).
class mesh_reshard_plan {
 public:
  mesh_reshard_plan(engine::mesh_route route, int element_bytes)
      : route_(std::move(route)), element_bytes_(element_bytes) {}

  /// The moves on the source mesh that come before the exchange between the meshes; none unless the source is partial.
  [[nodiscard]] planner::reshard_steps const& steps() const { return route_.plan.steps; }

  /// The bytes that all processes together move; exact, also for uneven blocks. 0 on a process outside of both meshes,
  /// which takes no part.
  [[nodiscard]] std::int64_t total_bytes() const {
    return route_.pair->here ? route_.plan.elements_moved() * element_bytes_ : 0;
  }

  /// The part of these bytes that goes from mesh to mesh: elements that processes need and lack.
  [[nodiscard]] std::int64_t exchanged_bytes() const {
    return route_.pair->here ? planner::elements_exchanged(route_.plan.source, route_.plan.target) * element_bytes_ : 0;
  }

  /// The route that the engine runs.
  [[nodiscard]] engine::mesh_route const& route() const { return route_; }

 private:
  engine::mesh_route route_;
  int element_bytes_;
};

namespace detail {

template <class A, class To, class Mesh>
using reshard_to_mesh_verdict =
    first_fault<no_block_verdict<A, operation::reshard_to_mesh<To>>, same_axes_verdict<sharding_in<A>, To>,
                mesh_verdict<Mesh, mesh_axes_in<To>>, element_verdict<typename A::value_type, To>>;

template <class Sharding, class Labels>
engine::execution_context context_on(char const* operation, std::shared_ptr<engine::device_mesh const> const& mesh,
                                     std::array<std::int64_t, Labels::size> const& extents) {
  return context_of_tensor(operation, *mesh, names_of<mesh_axes_in<Sharding>>.data(), mesh_axes_in<Sharding>::size,
                           extents.data(), Labels::size);
}

// The route in numbers. Labels are the tensor's axes; each mesh has its own mesh axes.
template <class To, class A>
engine::mesh_route route_to(char const* operation, A const& a,
                            std::shared_ptr<engine::device_mesh const> const& target) {
  using labels = axes_in<A>;
  std::shared_ptr<engine::device_mesh const> const& source = common_mesh(operation, a);
  return engine::route_between(operation, source, context_on<sharding_in<A>, labels>(operation, source, a.extents()),
                               spec_of<A, labels, mesh_axes_in<A>>, target,
                               context_on<To, labels>(operation, target, a.extents()),
                               spec_of<To, labels, mesh_axes_in<To>>);
}

// `reshard B[I_Y, J] = A[I_X, J] from X=8 to Y=2, float, I = 4, J = 2`
template <class To, class A>
std::string describe_move(A const& a, std::shared_ptr<engine::device_mesh const> const& target) {
  using labels = axes_in<A>;
  engine::execution_context const w = context_on<sharding_in<A>, labels>("reshard", a.mesh_handle(), a.extents());
  std::string text = join_text(
      "reshard B", planner::describe(spec_of<To, labels, mesh_axes_in<To>>, naming_of<labels, mesh_axes_in<To>>),
      " = A", planner::describe(spec_of<A, labels, mesh_axes_in<A>>, naming_of<labels, mesh_axes_in<A>>), " from ",
      w.mesh->describe(), " to ", target->describe());
  return join_text(text, ", ", engine::element_name<typename A::value_type>,
                   engine::describe_sizes(w, naming_of<labels, mesh_axes_in<A>>));
}

// The extents of A in the order of these axes.
template <class... Is, class A>
std::array<std::int64_t, sizeof...(Is)> extents_in_order(type_list<Is...>, A const& a) {
  return {a.extents()[static_cast<std::size_t>(position_in<Is, axes_in<A>>)]...};
}

}  // namespace detail

namespace operation {

/// The operation of os::reshard to this sharding on another mesh.
template <class To>
struct reshard_to_mesh {
  static constexpr char const* name = "reshard";
  template <class A, class Mesh>
  using verdict = detail::reshard_to_mesh_verdict<A, To, Mesh>;
  template <class A, class Mesh>
  using moves = void;  // types do not determine the price; os::reshard_plan does
  template <class A, class Mesh>
  using refused = detail::after_error_of<typename A::value_type, To, typename A::space>;

  template <class How, class A, class Mesh>
  auto run(How const&, A const& a, Mesh const& m) const {
    using result_type = basic_tensor<typename A::value_type, To, typename A::space>;
    engine::exclusive_use const of_source = detail::common_mesh(name, a)->use(name);
    engine::exclusive_use const of_target = m.handle()->use(name);
    engine::mesh_route const route = detail::route_to<To>(name, a, m.handle());
    if (route.pair->here)
      engine::require_agreement(route.all(), [&] { return detail::describe_move<To>(a, m.handle()); });
    auto const result = detail::allocate<result_type>(m.handle(), detail::extents_in_order(axes_in<To>{}, a));
    engine::run(detail::execution_space_of<A>(), route, static_cast<typename A::value_type const*>(a.local().data()),
                result.local().data());
    return result;
  }
};

}  // namespace operation

/// The moves of os::reshard<dims…>(A, mesh), before it runs. Exact, since both meshes and all extents are known.
/// The first time for a pair of meshes, it is collective over the larger one.
template <auto... To, Tensor A, class... Ms>
[[nodiscard]] mesh_reshard_plan reshard_plan(A const& a, mesh<Ms...> const& m) {
  using target = sharding_of<To...>;
  if constexpr (reason::ok_or_raise<detail::reshard_to_mesh_verdict<A, target, mesh<Ms...>>>())
    return {detail::route_to<target>("reshard", a, m.handle()), static_cast<int>(sizeof(typename A::value_type))};
  else
    return {{}, 0};
}

/// The same tensor on another mesh, under a sharding there, perhaps with its axes in another order; always a new
/// tensor. One of the two meshes has to contain all processes of the other. Where the source's mesh is absent, `a` is a
/// handle without elements; where the target's is absent, so is the result. Naming the target authorises the
/// communication. Collective over the larger mesh.
/// @throws ostraka::error, on all processes of both alike, if neither mesh contains all processes of the other
template <auto... To, TensorOrVariable A, class... Ms>
[[nodiscard]] auto reshard(A const& a, mesh<Ms...> const& m) {
  return detail::operate(operation::reshard_to_mesh<sharding_of<To...>>{}, a, m);
}

}  // namespace ostraka
