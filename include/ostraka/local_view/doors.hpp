// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The doors of a body: a tensor enters as this device's block, and a block leaves as a block of a tensor.
/// Nothing moves, and the memory stays the same.

#include <cstddef>
#include <string_view>

#include <ostraka/calls/context.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/engine/agreement/compare_replicas.hpp>
#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/local_view/extents_at_doors.hpp>
#include <ostraka/plan/typed/inside.hpp>

namespace ostraka::detail {

// The functions of entering and leaving that all shardings of a rank share, compiled once.
struct names_at_door {
  std::string_view const* mesh;
  int mesh_axes;
  std::string_view const* labels;
};

template <class T, int Rank, class Space>
[[gnu::noinline]] unnamed_block<T, Rank, Space> enter_unnamed(char const* operation,
                                                              unnamed_tensor<T, Rank, Space> const& a,
                                                              extent_origins<Rank> origins, names_at_door const& names,
                                                              planner::spec const& s, planner::mesh_set manual) {
  engine::device_mesh const* const mesh = a.mesh_handle().get();
  engine::execution_context w =
      engine::make_context(common_mesh(operation, &mesh, 1), names.mesh, names.mesh_axes, operation);
  w.names.labels = names.labels;
  typename unnamed_tensor<T, Rank, Space>::extents_type own{};
  enter_extents_of_block(w, s, manual, a.extents().data(), own.data(), origins.data());
  unnamed_block<T, Rank, Space> b(a.mesh_handle(), own, a.local());
  b.share_label(a);
  b.set_origins(origins);
  return b;
}

template <class T, int Rank, class Space>
[[gnu::noinline]] unnamed_block<T, Rank, Space> leave_unnamed(char const* operation,
                                                              unnamed_tensor<T, Rank, Space> const& b,
                                                              extent_origins<Rank> origins, names_at_door const& names,
                                                              planner::spec const& s, planner::mesh_set manual,
                                                              bool repeats) {
  engine::device_mesh const* const mesh = b.mesh_handle().get();
  engine::execution_context w =
      engine::make_context(common_mesh(operation, &mesh, 1), names.mesh, names.mesh_axes, operation);
  w.names.labels = names.labels;
  typename unnamed_tensor<T, Rank, Space>::extents_type whole{};
  leave_extents_of_block(w, s, manual, b.extents().data(), origins.data(), whole.data());
  unnamed_block<T, Rank, Space> r(b.mesh_handle(), whole, b.local());
  r.share_label(b);
  r.set_origins(origins);
  // Types guarantee this, except for numbers that were taken out of their types.
  if (repeats && engine::compares_calls(w) && !mesh->absent()) {
    w.names.mesh_axes = names.mesh;
    w.sizes.labels = Rank;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Rank); ++i) w.sizes.label[i] = whole[i];
    auto const local = engine::on_host(b.local());
    engine::check_replicas(w, s, local.data(), static_cast<int>(sizeof(T)));
  }
  return r;
}

// A tensor as a block.
template <class Manual, class A>
auto enter(char const* operation, A const& a) {
  using labels = axes_in<A>;
  using mesh = common_of<mesh_axes_in<A>, Manual>;
  using block = basic_tensor<typename A::element_type, inside_of<sharding_in<A>, Manual>, typename A::space>;
  if constexpr (mesh::size == 0) {
    common_mesh(operation, a);
    return a;
  } else {
    using all = mesh_axes_in<A>;
    static constexpr planner::spec s = spec_of<A, labels, all>;
    extent_origins<A::rank> origins{};
    if constexpr (varying_in<A>::size > 0) origins = a.origins();
    return block(enter_unnamed(operation, a, origins, {names_of<all>.data(), all::size, names_of<labels>.data()}, s,
                               mesh_axes_numbered<all>(mesh{})));
  }
}

// A block as the tensor of which it is a block.
template <class Out, class Manual, class Kept, class B>
auto leave(char const* operation, B const& b) {
  using labels = axes_in<B>;
  using mesh = union_of<mesh_axes_in<Out>, difference_of<varying_in<B>, Kept>>;
  using result = basic_tensor<typename B::element_type,
                              typename with_varying<Out, common_of<varying_in<B>, Kept>>::type, typename B::space>;
  static constexpr planner::spec s = spec_of<Out, labels, mesh>;
  extent_origins<B::rank> origins{};
  if constexpr (varying_in<B>::size > 0) origins = b.origins();
  result r(leave_unnamed(operation, b, origins, {names_of<mesh>.data(), mesh::size, names_of<labels>.data()}, s,
                         mesh_axes_numbered<mesh>(common_of<mesh, Manual>{}), varying_in<result>::size == 0));
  if constexpr (varying_in<result>::size == 0)
    require_static_extents(operation, *r.mesh_handle(), r.extents().data(), labels{});
  return r;
}

}  // namespace ostraka::detail

namespace ostraka::operation {

/// The entry of an operand of os::shard_map. Derivatives: gradient/rules/local_view/derivative_of_doors.hpp.
template <class Manual>
struct enter_body : detail::internal_step<enter_body<Manual>> {
  static constexpr char const* name = "enter_body";
  char const* called = "shard_map";  ///< the name of the operation that the program called

  template <class A>
  auto run(detail::at_once, A const& a) const {
    return detail::enter<Manual>(called, a);
  }
};

/// The exit of a result.
template <class Out, class Manual, class Kept>
struct leave_body : detail::internal_step<leave_body<Out, Manual, Kept>> {
  static constexpr char const* name = "leave_body";

  template <class B>
  auto run(detail::at_once, B const& b) const {
    return detail::leave<Out, Manual, Kept>("shard_map", b);
  }
};

}  // namespace ostraka::operation
