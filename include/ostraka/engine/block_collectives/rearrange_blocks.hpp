// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Runs a rearrangement along one axis: each device sends its part of a piece to the device where it belongs.
/// Pairs of devices that have nothing for each other send no message, and the part that stays is copied. A roll of
/// A[I_X] by less than a block is a message to the next device.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

#include <ostraka/engine/block_collectives/exchange_blocks.hpp>
#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/plan/blocks/pieces.hpp>
#include <ostraka/plan/decisions/viewpoint.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

namespace detail {

/// Returns indices first, first + step, … of dimension `along` of a block, `count` of them.
template <class T>
strided_block<T*> steps_of(strided_block<T*> const& block, int along, std::int64_t first, std::int64_t step,
                           std::int64_t count) {
  if (count <= 0) return empty_block<T>();
  strided_block<T*> r = block;
  r.where.at[along] = {0, count};
  r.stride[along] = step * block.stride[along];
  r.data += first * block.stride[along];
  return r;
}

/// The indices of the axis that each device holds.
struct axis_of_group {
  planner::viewpoint from{};
  planner::mesh_order over{};
  std::int64_t ways = 1;

  axis_of_group(execution_context const& w, planner::mesh_order mesh_axes) : over(mesh_axes), ways(w.sizes.ways(over)) {
    from.sizes = w.sizes;
    from.here = w.here;
    for (int m = 0; m < w.sizes.mesh_axes; ++m) from.order[m] = w.axis[m];
  }
  [[nodiscard]] planner::range block(std::int64_t extent, planner::coordinates const& c) const {
    return planner::block(extent, planner::block_number(over, c, from.sizes), ways);
  }
};

[[gnu::cold]] inline std::string describe(planner::rearrangement const& r) {
  std::string text = join_text("to ", r.result, " indices");
  for (planner::piece const& p : r.pieces)
    append_text(text, ", ", p.size, " from ", p.from, " by ", p.from_step, " to ", p.to);
  return text;
}

}  // namespace detail

/// result <- the pieces of the operands, and `blank` elsewhere. All have the same sharding `s`, divided along dimension
/// `along` by the block distribution of their own extents; `from[k]` is this device's block of operand k. `in_blocks`:
/// the dimension of the blocks, if they are described in chunks and not by `s`; the extents of operands and result then
/// count chunks. Collective over the mesh axes that divide the dimension.
template <class Exec, class T>
void rearrange(Exec const& exec, execution_context const& w, planner::spec const& s, int along,
               planner::rearrangement const& r, strided_block<T const*> const* from, strided_block<T*> const& result,
               T const& blank, int in_blocks = -1) {
  if (w.here.nowhere) return;
  int const dimension = in_blocks < 0 ? along : in_blocks;
  detail::axis_of_group const axis(w, s.over[along]);
  planner::mesh_set const axes = axis.over.axes();
  if (axis.ways > 1) require_same_call<T>(w, s, axes, [&] { return detail::describe(r); });
  planner::range const own = axis.block(r.result, w.here);
  auto const fill_blank = [&](planner::range const& b) {
    planner::range const here = planner::intersect(b, own);
    strided_block<T*> const empty = detail::steps_of(result, dimension, here.begin - own.begin, 1, here.size());
    if (empty.where.size() > 0) fill(exec, empty.data, layout_of(empty), blank);
  };
  if (r.is_sparse) {  // before anything arrives
    fill_blank({0, r.result});
    fence_on_host(exec);
  }
  run_in_flight begun[planner::max_pieces];
  int number = 0;
  for (planner::piece const& p : r.pieces) {
    planner::range const held = axis.block(r.extent[p.operand], w.here);
    auto const sent = [&](planner::range target) {
      planner::range const j = planner::common_steps(p, held, target);
      std::int64_t const first = p.from + j.begin * p.from_step;
      return detail::steps_of(from[p.operand], dimension, first - held.begin, p.from_step, j.size());
    };
    auto const received = [&](planner::range source) {
      planner::range const j = planner::common_steps(p, source, own);
      return detail::steps_of(result, dimension, p.to + j.begin * p.to_step - own.begin, p.to_step, j.size());
    };
    if (planner::indices_moved(p, r, axis.ways) == 0) {
      strided_block<T const*> const stays = sent(own);
      if (stays.where.size() > 0) copy(exec, received(held), stays);
      continue;
    }
    begun[number++] = begin_exchange<T>(exec, w, axes, [&](int d) {
      planner::coordinates const other = axis.from.member(axes, d);
      return block_exchanged<T>{sent(axis.block(r.result, other)), received(axis.block(r.extent[p.operand], other))};
    });
  }
  for (planner::range const& b : r.blanks) fill_blank(b);
  for (int k = 0; k < number; ++k) begun[k].wait();
  fence_on_host(exec);
}

}  // namespace ostraka::engine
