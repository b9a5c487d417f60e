// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A plan: the steps of one operation as a value, and what they cost for given extents.

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/blocks.hpp>
#include <ostraka/plan/step.hpp>

namespace ostraka::planner {

inline constexpr int max_plan_steps = (max_operands + 1) * max_reshard_steps + 1;

/// The steps of an einsum, a reduction or a reshard: each operand's moves, the local contraction, the result's moves.
struct einsum_plan {
  bounded_list<spec, max_operands> operands{};
  spec result{};
  extents sizes{};  ///< that it was decided on
  bool feasible = false;
  bounded_list<planned_step, max_plan_steps> steps{};

  /// Number of steps of a kind.
  [[nodiscard]] constexpr int count(step kind) const {
    int n = 0;
    for (planned_step const& s : steps) n += s.kind == kind ? 1 : 0;
    return n;
  }

  /// Number of steps that move bytes between devices.
  [[nodiscard]] constexpr int communications() const {
    int n = 0;
    for (planned_step const& s : steps) n += communicates(s.kind) ? 1 : 0;
    return n;
  }

  /// Elements moved, added over all devices; exact, also for uneven blocks.
  [[nodiscard]] constexpr std::int64_t elements_moved(extents const& e) const {
    std::int64_t n = 0;
    for (planned_step const& s : steps) n += planner::elements_moved(s, e);
    return n;
  }

  /// The specs that the local contraction takes.
  [[nodiscard]] constexpr bounded_list<spec, max_operands> contracted() const {
    bounded_list<spec, max_operands> now = operands;
    for (planned_step const& s : steps)
      if (s.operand != the_result) now[s.operand] = s.to;
    return now;
  }

  /// Multiplications and additions of the device with the largest blocks.
  [[nodiscard]] constexpr std::int64_t flops(extents const& e) const {
    std::int64_t n = 2;
    auto const now = contracted();
    bool counted[max_labels]{};
    for (spec const& s : now)
      for (int i = 0; i < s.rank; ++i)
        if (!counted[s.label[i]]) {
          counted[s.label[i]] = true;
          std::int64_t const p = e.ways(s.over[i]);
          n *= (e.label[s.label[i]] + p - 1) / p;
        }
    return n;
  }
};

}  // namespace ostraka::planner
