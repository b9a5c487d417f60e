// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The moves of collectives on blocks (calls/moves.hpp): the move of the tensor to which a block is lifted, or
/// a number of blocks as messages.

#include <cstdint>

#include <ostraka/calls/moves.hpp>
#include <ostraka/moves/one_move.hpp>

namespace ostraka::detail {

// The extents of the tensor to which a block A is lifted: for I that of all blocks over `Ms` together, or, if the block
// lacks I, an index for each device. If a block's extent is this device's own, all are assumed to have the same.
template <class Sizes, class A, class I, class... Ms>
struct lifted_sizes {
  Sizes const& of_block;

  template <class Label>
  [[nodiscard]] constexpr std::int64_t of() const {
    if constexpr (!std::is_same_v<Label, I>)
      return of_block.template of<Label>();
    else if constexpr (position_in<I, axes_in<A>> < 0)
      return (std::int64_t{1} * ... * of_block.template of<Ms>());
    else if constexpr (requires { of_block.template joined<I, Ms...>(); })
      return of_block.template joined<I, Ms...>();
    else
      return (of_block.template of<I>() * ... * of_block.template of<Ms>());
  }
  template <class... Others>
  [[nodiscard]] constexpr std::int64_t side_by_side() const {
    return of_block.template side_by_side<Others...>();
  }
};

// The price of the tensor to which a block is lifted; `Lifted<Sizes>` holds its extents.
template <class Price, template <class> class Lifted>
struct moves_of_lifted {
  static constexpr int count(step kind) { return Price::count(kind); }
  template <class Sizes>
  static constexpr std::int64_t total_bytes(Sizes const& sizes) {
    return Price::total_bytes(Lifted<Sizes>{sizes});
  }
  template <class Sizes>
  static constexpr std::int64_t bytes(Sizes const& sizes) {
    return Price::bytes(Lifted<Sizes>{sizes});
  }
  template <class Sizes>
  static constexpr std::int64_t flops(Sizes const& sizes) {
    return Price::flops(Lifted<Sizes>{sizes});
  }
  template <class Sizes>
  static constexpr std::int64_t workspace(Sizes const& sizes) {
    return Price::workspace(Lifted<Sizes>{sizes});
  }
};

// The price of a move of blocks that stand one after the other along I.
template <class Move, class A, class I, class... Ms>
struct moves_of_blocks_along {
  template <class Sizes>
  using lifted = lifted_sizes<Sizes, A, I, Ms...>;
  using type = moves_of_lifted<moves_of_plan<move_source<Move, A>>, lifted>;
};

// The price of messages with blocks A along the mesh axes: `Messages(n)` blocks are sent among n devices.
template <class A, class MeshAxes, std::int64_t (*Messages)(std::int64_t), int ElementBytes = element_bytes_in<A>>
struct moves_of_messages : no_flops {
  using labels = axes_in<A>;
  using mesh = union_of<MeshAxes, mesh_axes_in<A>>;
  using named = extents_by_name<labels, mesh>;

  static constexpr std::int64_t moved(planner::extents const& e) {
    std::int64_t const n = e.ways(mesh_axes_numbered<mesh>(MeshAxes{}));
    return Messages(n) * (planner::held_by_all(spec_of<A, labels, mesh>, e) / n);
  }
  static constexpr int count(step) { return 0; }
  template <class Sizes>
  static constexpr std::int64_t total_bytes(Sizes const& sizes) {
    return moved(named::of(sizes)) * ElementBytes * named::groups(sizes);
  }
  template <class Sizes>
  static constexpr std::int64_t bytes(Sizes const& sizes) {
    planner::extents const e = named::of(sizes);
    return planner::bytes_per_device(moved(e), ElementBytes, e);
  }
};

}  // namespace ostraka::detail
