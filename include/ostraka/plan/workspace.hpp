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
///     all_reduce       |to|         |to| / n + pieces  in place on the new block, one part of it reduced at a time
///     reduce_scatter   |to|         |from| + pieces    packed member by member; what arrives from the others is added up in pieces
///     exchanges        |to|         c |from| + |to|    packed and received member by member, to all c that are to hold the same
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

/// Elements of a piece in which parts of a reduction arrive. Those of all peers together are to stay in a cache, each long enough to travel well.
[[nodiscard]] constexpr std::int64_t piece_of_reduction(std::int64_t peers) { return std::max<std::int64_t>(2048, 32768 / peers); }

namespace detail {

// Elements that arrive at a device from the others of its group: a piece from each while it adds up those before.
constexpr std::int64_t arriving(std::int64_t part, std::int64_t devices) {
  return devices > 1 ? 2 * (devices - 1) * std::min(part, piece_of_reduction(devices - 1)) : 0;
}

}  // namespace detail

/// Elements of staging buffers during a step, on the device with the largest blocks.
[[nodiscard]] constexpr std::int64_t staging(planned_step const& s, extents const& e) {
  switch (s.kind) {
    case step::all_gather: return largest_block(s.to, e);
    case step::all_reduce: {
      std::int64_t const part = (largest_block(s.to, e) + e.ways(s.axes) - 1) / e.ways(s.axes);
      return part + detail::arriving(part, e.ways(s.axes));
    }
    case step::reduce_scatter:
      return std::min(largest_block(s.from, e), e.ways(s.axes) * largest_block(s.to, e)) + detail::arriving(largest_block(s.to, e), e.ways(s.axes));
    case step::all_to_all:
    case step::block_exchange: return e.ways((s.axes & s.from.uses()) - s.to.uses()) * largest_block(s.from, e) + largest_block(s.to, e);
    default: return 0;
  }
}

namespace detail {

// Elements of a message that is packed because its tensor lies in somebody's memory with gaps: a slice or a pass's part of a block.
constexpr std::int64_t packing(planned_step const& s, extents const& e, bool from_gaps, bool to_gaps) {
  switch (s.kind) {
    case step::all_gather: return from_gaps ? largest_block(s.from, e) : 0;
    case step::all_reduce:
    case step::reduce_scatter: return to_gaps ? largest_block(s.to, e) : 0;
    default: return 0;
  }
}

}  // namespace detail

/// Elements held at once beyond operands and result, on the device with the largest blocks. A tensor on its way lives until it is
/// contracted, and what stays where the result belongs is written there. Where the extents are those of one of several passes, in any of them.
[[nodiscard]] constexpr std::int64_t peak_workspace(einsum_plan const& plan, extents const& e) {
  std::int64_t live[max_tensors]{};
  bool gaps[max_tensors]{};
  bool const in_passes = e.now.parts > 1;
  extents whole = e;
  whole.now = {};
  std::int64_t copies = 0;  // which outlive a pass
  for (int k = 0; k < plan.operands.size(); ++k) {
    gaps[k] = in_passes && plan.operands[k].find(e.now.label) > 0;  // the part of a first dimension has none
    if (plan.copied[k]) (in_passes ? copies : live[k]) += largest_block(plan.operands[k], whole);
  }
  std::int64_t peak = 0;
  for (int i = 0; i < plan.steps.size(); ++i) {
    planned_step const& s = plan.steps[i];
    int const slot = slot_of(s.operand);
    bool const lands = s.operand == the_result && stays_from(plan.steps, i + 1, the_result);
    bool const in_place = rewrites(s.kind) && (lands || live[slot] > 0);
    bool const to_gaps = lands ? in_passes && plan.result.find(e.now.label) > 0 : in_place && gaps[slot];
    std::int64_t const fresh = makes_block(s.kind) && !lands && !in_place ? largest_block(s.to, e) : 0;
    std::int64_t now = copies + fresh + staging(s, e) + detail::packing(s, e, gaps[slot], to_gaps);
    for (std::int64_t n : live) now += n;
    peak = std::max(peak, now);
    if (makes_block(s.kind) && !in_place) live[slot] = fresh;
    if (!in_place) gaps[slot] = makes_block(s.kind) ? to_gaps : true;
    if (s.kind == step::contract)
      for (int tensor : {s.left, s.right})
        if (tensor != no_tensor) live[slot_of(tensor)] = 0;
  }
  return peak;
}

}  // namespace ostraka::planner
