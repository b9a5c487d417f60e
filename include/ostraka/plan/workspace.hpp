// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. How much memory a plan takes beyond operands and result; the engine allocates by the same functions.
///
///     step             new block    staging
///     slice, mask      none         none               a view; in place on a block of its own
///     zero_pad         |to|         none
///     all_gather       |to|         |to|               received member by member, then put in place
///     all_reduce       |to|         |to| / n           in place on the new block, one part of it reduced at a time
///     reduce_scatter   |to|         |from|             packed member by member; what arrives is added up in pieces of a fixed size
///     exchanges        |to|         |from| + |to|      packed and received member by member
///     contract         |to|         none

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/plan.hpp>

namespace ostraka::planner {

/// Does the step write a new block (and not look at the old one in another way)?
[[nodiscard]] constexpr bool makes_block(step s) { return s != step::slice; }

/// Can the step write over the block that it reads?
[[nodiscard]] constexpr bool rewrites(step s) { return s == step::all_reduce || s == step::mask; }

/// From step number `first` on, does the tensor stay in the block that it is in?
template <class Steps>
[[nodiscard]] constexpr bool stays_from(Steps const& steps, int first, int tensor) {
  for (int i = first; i < steps.size(); ++i)
    if (steps[i].operand == tensor && !rewrites(steps[i].kind)) return false;
  return true;
}

/// Elements of staging buffers during a step, on the device with the largest blocks.
[[nodiscard]] constexpr std::int64_t staging(planned_step const& s, extents const& e) {
  switch (s.kind) {
    case step::all_gather: return largest_block(s.to, e);
    case step::all_reduce: return (largest_block(s.to, e) + e.ways(s.axes) - 1) / e.ways(s.axes);
    case step::reduce_scatter: return std::min(largest_block(s.from, e), e.ways(s.axes) * largest_block(s.to, e));
    case step::all_to_all:
    case step::block_exchange: return largest_block(s.from, e) + largest_block(s.to, e);
    default: return 0;
  }
}

/// Elements held at once beyond operands and result, on the device with the largest blocks. A tensor on its way lives until it is
/// contracted, and what stays where the result belongs is written there.
[[nodiscard]] constexpr std::int64_t peak_workspace(einsum_plan const& plan, extents const& e) {
  std::int64_t live[max_tensors]{};
  std::int64_t peak = 0;
  for (int k = 0; k < plan.operands.size(); ++k)
    if (plan.copied[k]) live[k] = largest_block(plan.operands[k], e);
  for (int i = 0; i < plan.steps.size(); ++i) {
    planned_step const& s = plan.steps[i];
    bool const lands = s.operand == the_result && stays_from(plan.steps, i + 1, the_result);
    bool const in_place = rewrites(s.kind) && (lands || live[slot_of(s.operand)] > 0);
    std::int64_t const fresh = makes_block(s.kind) && !lands && !in_place ? largest_block(s.to, e) : 0;
    std::int64_t now = fresh + staging(s, e);
    for (std::int64_t n : live) now += n;
    peak = std::max(peak, now);
    if (makes_block(s.kind) && !in_place) live[slot_of(s.operand)] = fresh;
    if (s.kind == step::contract)
      for (int tensor : {s.left, s.right})
        if (tensor != no_tensor) live[slot_of(tensor)] = 0;
  }
  return peak;
}

}  // namespace ostraka::planner
