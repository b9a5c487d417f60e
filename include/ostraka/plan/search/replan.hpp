// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The plan of the same operation for other sizes, by the function that made it. os::for_these_sizes runs it,
/// and the adviser compares with it.

#include <ostraka/plan/reshard/reorder_labels.hpp>
#include <ostraka/plan/search/plan_einsum.hpp>

namespace ostraka::planner {

namespace detail {

// The problem that the plan solves.
[[gnu::cold]] constexpr einsum_problem problem_of(einsum_plan const& plan, admit rule) {
  einsum_problem p;
  p.operands = plan.operands;
  p.result = plan.result;
  p.sizes = plan.sizes;
  p.rule = rule;
  p.how = plan.how;
  p.element_weight = plan.element_weight;
  p.directions = plan.directions;
  return p;
}

}  // namespace detail

/// The plan for sizes `e`. A plan without a contraction is replanned as a reshard. If `rule` admits no plan for these
/// sizes, returns the plan unchanged.
[[nodiscard, gnu::cold]] constexpr einsum_plan replan(einsum_plan const& plan, admit rule, extents const& e) {
  if (plan.computes()) {
    einsum_problem p = detail::problem_of(plan, rule);
    p.sizes = e;
    einsum_plan again = plan_einsum(p);
    if (!again.feasible) return plan;
    for (int k = 0; k < max_operands; ++k) again.copied[k] = plan.copied[k];
    return again;
  }
  einsum_plan again = plan;
  again.sizes = e;
  again.steps.count = 0;
  for (planned_step const& s : plan_reordering_reshard(plan.operands[0], plan.result, e)) again.steps.push_back(s);
  return again;
}

}  // namespace ostraka::planner
