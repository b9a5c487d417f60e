// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A reshard whose target names the labels in another order. It moves as many bytes as the reshard in the
/// source's order. A step that copies elements anyway also puts them into the target's order, so no extra step is
/// needed: from some step on, all steps are in the target's order. The first of these reads its source through the
/// strides of that order; if there is none, the last step writes the result through the strides of the source's order.
///
///     source      target      steps
///     [I_X, J]    [J, I]      all_gather<X>    [J, I_X] → [J, I]     each device transposes its own part
///     [I_X, J]    [J_X, I]    all_to_all<X>    [J, I_X] → [J_X, I]   transposed when packed
///     [I, J_X, K] [K, J, I_X] all_to_all<X>    [I, J_X, K] → [I_X, J, K], transposed on arrival: sent in place
///     [I] {U_X}   [I_X]       reduce_scatter   in the source's order: the result is smaller
///     [I, J]      [J, I]      none             the result is a transposing copy

#include <ostraka/plan/reshard/plan_reshard.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::planner {

namespace detail {

// True if an exchange is cheaper in its own order of labels than in that of `to`: parts that are sent in place are
// copied only when they arrive.
[[gnu::cold]] constexpr bool is_transposed_on_arrival(planned_step const& s, spec const& to, extents const& e) {
  return in_runs(s.from, s.to, e) && !in_runs(reordered(s.to, to), reordered(s.from, to), e);
}

// The number of the first step that acts on the labels in the order of `to`; the number of steps if none does.
[[gnu::cold]] constexpr int first_reordered(reshard_steps const& steps, spec const& to, extents const& e) {
  for (int i = 0; i < steps.size(); ++i) {
    planned_step const& s = steps[i];
    bool const exchanges = s.kind == step::all_to_all || s.kind == step::block_exchange;
    bool const copied_later = exchanges && i + 1 < steps.size();  // zero_pad or mask copies it later
    if (s.kind == step::slice || s.kind == step::reduce_scatter || copied_later) continue;
    return exchanges && is_transposed_on_arrival(s, to, e) ? i + 1 : i;
  }
  return steps.size();
}

}  // namespace detail

/// The steps of the cheapest reshard by itself to a sharding that may name the labels in another order.
/// @pre from and to have the same labels
[[nodiscard, gnu::cold]] constexpr reshard_steps plan_reordering_reshard(spec const& from, spec const& to,
                                                                         extents const& e) {
  reshard_steps steps = plan_reshard(from, reordered(to, from), e);
  if (same_order(from, to)) return steps;
  for (int i = detail::first_reordered(steps, to, e); i < steps.size(); ++i) {
    steps[i].from = reordered(steps[i].from, to);
    steps[i].to = reordered(steps[i].to, to);
  }
  return steps;
}

}  // namespace ostraka::planner
