// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A contraction of two tensors fused with the move next to it, so that a device's own part is not copied. For
/// a gather, the own part is multiplied in place while the other parts travel. For a reduce-scatter, the own part is
/// multiplied last, and added to the sum of the others'. That saves one copy, or one sum, and the buffer is one part
/// shorter. With A = (A_before, A_own, A_after) along J_X:
///
///     all_gather A[I, J_X]      C <- A_own B_own, C += A_before B_before, C += A_after B_after
///     reduce_scatter C[I_X, K]  C_before and C_after are made and sent; C_own <- what arrives, C_own += A_own B
///
/// A result that is repeated along the gather's mesh axis must have the same bits on all devices. For such a result,
/// all devices multiply the parts one by one, in the same way, and add sums in the order of the devices.

#include <cstdint>

#include <ostraka/plan/decisions/message_layout.hpp>

namespace ostraka::planner {

/// True if all devices of these loops have the same part of `result`.
[[nodiscard]] constexpr bool is_repeated(spec const& result, device_loops const& loops) {
  for (device_loop const& d : loops)
    if (result.uses().contains(d.mesh_axis)) return false;
  return true;
}

namespace detail {

// The elements of a part of a move before or after the contraction; 0 if it cannot be fused with it. The parts have to
// be equal and along one mesh axis, so that those before a device's own and those after it are two blocks. If the parts
// are contiguous in memory, one product of all parts needs no copy except of the own part. It is then better than many
// single products, or than reading a large tensor again for each.
[[gnu::cold]] constexpr std::int64_t fused_part(planned_step const& move, planned_step const& product, extents const& e,
                                                machine_constants const& machine) {
  bool const gathers = move.kind == step::all_gather;
  if (!gathers && (move.kind != step::reduce_scatter || move.from.kind != reduction::sum)) return 0;
  spec const& whole = gathers ? move.to : move.from;
  spec const& parts = gathers ? move.from : move.to;
  std::int64_t const part = largest_block(parts, e);
  if (part < machine.shortest_fused_part) return 0;
  device_loops const loops = gathers ? loops_of_received(move, e) : loops_of_sent(move, e);
  part_of_product const which = gathers ? part_of_product::factor : part_of_product::result;
  if (loops.size() != 1 || !is_worth_cutting(whole, which, loops, product, e, machine)) return 0;
  if (!gathers || !in_order(whole, parts, move.axes, e)) return part;
  std::int64_t const again = elements_reread(whole, which, loops[0].dimension, product, e);
  return is_repeated(product.to, loops) || again > machine.reread_limit_in_order * part ? 0 : part;
}

}  // namespace detail

/// The move that is fused with the contraction at step `at`: the one with the longest parts; -1 for none. The
/// contraction's other tensors are not in message layout.
/// @param m the tensors of the contraction that could be in message layout
[[nodiscard, gnu::cold]] constexpr int fused_with(plan_steps const& steps, int at, contracted_messages const& m,
                                                  extents const& e, machine_constants const& machine = measured) {
  planned_step const& s = steps[at];
  if (s.right == no_tensor || e.labels >= max_loops) return -1;  // the moved label becomes two loops
  int const moves[] = {last_before(steps, at, s.left), last_before(steps, at, s.right),
                       next_after(steps, at, s.operand)};
  int best = -1;
  std::int64_t longest = 0;
  for (int k = 0; k < 3; ++k) {
    if (moves[k] < 0 || moves[k] >= steps.size() || (k == 2) != (steps[moves[k]].kind == step::reduce_scatter))
      continue;
    std::int64_t const part = detail::fused_part(steps[moves[k]], s, e, machine);
    if (part <= longest) continue;
    best = k;
    longest = part;
  }
  if (best < 0) return -1;
  bool const as_messages[] = {m.left, m.right, m.result};
  for (int k = 0; k < 3; ++k)
    if (k != best && as_messages[k]) return -1;
  return moves[best];
}

}  // namespace ostraka::planner
