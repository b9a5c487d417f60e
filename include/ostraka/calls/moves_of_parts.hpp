// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Prices that several operations share: of rows, of an agreement, of products, of moves in sequence
/// (calls/moves.hpp).

#include <cstdint>
#include <type_traits>

#include <ostraka/calls/along.hpp>
#include <ostraka/calls/moves.hpp>
#include <ostraka/plan/typed/plan_of.hpp>

namespace ostraka::detail {

/// The price of a rearrangement along an axis: nothing moves if the axis is undivided; else types do not determine it.
template <class Dim>
using moves_if_whole = std::conditional_t<axis_argument<Dim>::mesh::size == 0, nothing_moved, void>;

/// An all-reduce, over the mesh axes `Over`, of `RowBytes` bytes for each row of A. `Rows`: the sharding of the rows.
template <class A, class Rows, class Over, int RowBytes>
struct moves_of_rows : moves_by_extents<moves_of_rows<A, Rows, Over, RowBytes>, axes_in<A>, mesh_axes_in<A>> {
  static constexpr int count(step kind) { return Over::size > 0 && kind == step::all_reduce ? 1 : 0; }
  static constexpr std::int64_t bytes_moved(planner::extents const& e) {
    using mesh = mesh_axes_in<A>;
    std::int64_t const n = e.ways(mesh_axes_numbered<mesh>(Over{}));
    return 2 * (n - 1) * (planner::held_by_all(spec_of<Rows, axes_in<A>, mesh>, e) / n) * RowBytes;
  }
};

/// An all-reduce of `Numbers` numbers for each row along the named axis.
template <class Dim, int Numbers, class A>
using moves_of_statistics = moves_of_rows<A, rows_of<Dim, A>, typename axis_argument<Dim>::mesh,
                                          Numbers* static_cast<int>(sizeof(accumulator_of_t<typename A::value_type>))>;

/// An agreement on 8 bytes between the devices along these mesh axes.
template <class MeshAxes>
struct moves_of_agreement : moves_by_extents<moves_of_agreement<MeshAxes>, type_list<>, MeshAxes> {
  static constexpr int count(step kind) { return MeshAxes::size > 0 && kind == step::all_reduce ? 1 : 0; }
  static constexpr std::int64_t bytes_moved(planner::extents const& e) { return 16 * (e.devices() - 1); }
};

/// The plan of a product with this sharding and policy.
template <class Sharding, class Policy, class... Operands>
struct product_source {
  static constexpr auto plan = plan_for<Sharding>::make(std::type_identity<Policy>{}, type_list<Operands...>{});
};
template <class Sharding, class Policy, class... Operands>
using moves_of_product = moves_of_plan<product_source<Sharding, Policy, Operands...>>;

/// Moves in sequence. The bytes of a device are the sum over all devices divided by their number, rounded up once.
template <class... Parts>
struct moves_in_turn {
  static constexpr int count(step kind) { return (Parts::count(kind) + ...); }
  template <class Sizes>
  static constexpr std::int64_t total_bytes(Sizes const& sizes) {
    return (Parts::total_bytes(sizes) + ...);
  }
  template <class Sizes>
  static constexpr std::int64_t bytes(Sizes const& sizes) {
    std::int64_t const n = sizes.template side_by_side<>();
    return (total_bytes(sizes) + n - 1) / n;
  }
  template <class Sizes>
  static constexpr std::int64_t flops(Sizes const& sizes) {
    return (Parts::flops(sizes) + ...);
  }
};

/// The moves of a tensor with other extents than the operand: `Lifted<Sizes>` holds a reference to the operand's
/// extents, and returns those of the tensor.
template <class Moves, template <class> class Lifted>
struct moves_of_lifted {
  static constexpr int count(step kind) { return Moves::count(kind); }
  template <class Sizes>
  static constexpr std::int64_t total_bytes(Sizes const& sizes) {
    return Moves::total_bytes(Lifted<Sizes>{sizes});
  }
  template <class Sizes>
  static constexpr std::int64_t bytes(Sizes const& sizes) {
    return Moves::bytes(Lifted<Sizes>{sizes});
  }
  template <class Sizes>
  static constexpr std::int64_t flops(Sizes const& sizes) {
    return Moves::flops(Lifted<Sizes>{sizes});
  }
  template <class Sizes>
  static constexpr std::int64_t workspace(Sizes const& sizes) {
    return Moves::workspace(Lifted<Sizes>{sizes});
  }
};

}  // namespace ostraka::detail
