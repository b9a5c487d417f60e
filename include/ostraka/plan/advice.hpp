// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. What to say of a plan that was decided on nominal sizes and is a poor one for the sizes at hand: the very planner that ran while
/// compiling runs on these sizes and the two are compared. `C[I_X, K] = A[I_X, J] · B[J, K_X]` moves B: for a short I, A would be cheaper.

#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/plan/describe.hpp>
#include <ostraka/plan/einsum.hpp>

namespace ostraka::planner {

/// `I=8, J=4096 on X=2 · Y=4`
[[nodiscard, gnu::cold]] inline std::string describe(extents const& e, naming const& n) {
  std::string text;
  for (int l = 0; l < e.labels; ++l) text += (l > 0 ? ", " : "") + std::string(n.labels[l]) + '=' + std::to_string(e.label[l]);
  for (int m = 0; m < e.mesh_axes; ++m) text += (m > 0 ? " · " : e.labels > 0 ? " on " : "on ") + std::string(n.mesh_axes[m]) + '=' + std::to_string(e.mesh[m]);
  return text;
}

/// Bytes per device that a plan moves for these extents, as text.
[[nodiscard, gnu::cold]] inline std::string describe_bytes(einsum_plan const& plan, naming const& n, extents const& e) {
  return describe_bytes(bytes_per_device(plan.elements_moved(e), n.element_bytes, e));
}

namespace detail {

// What the plan solves.
constexpr einsum_problem problem_of(einsum_plan const& plan, admit rule) {
  einsum_problem p;
  p.operands = plan.operands;
  p.result = plan.result;
  p.sizes = plan.sizes;
  p.rule = rule;
  p.how = plan.how;
  p.element_weight = plan.element_weight;
  return p;
}

// The plan for other sizes. A plan without a contraction is a reshard's.
[[gnu::cold]] constexpr einsum_plan replanned(einsum_plan const& plan, admit rule, extents const& e) {
  einsum_problem p = problem_of(plan, rule);
  p.sizes = e;
  if (plan.count(step::contract) > 0) return plan_einsum(p);
  einsum_plan again = plan;
  again.sizes = e;
  again.steps.count = 0;
  for (planned_step const& s : plan_reshard(plan.operands[0], plan.result, e)) again.steps.push_back(s);
  return again;
}

// The policy under which a product of two, planned as the problem is, moves no more for sizes `e`; none if empty.
[[gnu::cold]] inline std::string policy_that_moves(einsum_problem problem, std::int64_t elements, extents const& e) {
  struct choice {
    admit rule;
    char const* name;
  };
  if (problem.rule != admit::any || problem.operands.size() != 2) return "";
  for (choice const& c : {choice{admit::no_communication, "os::no_communication"}, choice{admit::reduce_result, "os::reduce_result"},
                          choice{admit::gather_left, "os::gather_left"}, choice{admit::gather_right, "os::gather_right"}}) {
    problem.rule = c.rule;
    einsum_plan const plan = plan_einsum(problem);
    if (plan.feasible && plan.elements_moved(e) <= elements) return c.name;
  }
  return "";
}

// Static extents for what was decided on another number.
[[gnu::cold]] inline std::string static_extents(extents const& decided_on, extents const& e, naming const& n) {
  std::string text;
  auto const add = [&](char const* macro, std::string_view name, std::int64_t decided, std::int64_t is) {
    if (decided != is) text += (text.empty() ? "" : ", ") + std::string(macro) + '(' + std::string(name) + ", " + std::to_string(is) + ')';
  };
  for (int l = 0; l < e.labels; ++l) add("OSTRAKA_AXIS", n.labels[l], decided_on.label[l], e.label[l]);
  for (int m = 0; m < e.mesh_axes; ++m) add("OSTRAKA_MESH_AXIS", n.mesh_axes[m], decided_on.mesh[m], e.mesh[m]);
  return text;
}

}  // namespace detail

/// What is wrong with a plan that moves more than `budget` bytes per device for the sizes `e`, and what to do about it.
[[nodiscard]] inline std::string budget_exceeded(std::string_view operation, einsum_plan const& chosen, admit rule, extents const& e, naming const& n,
                                                 std::int64_t budget) {
  einsum_plan const better = detail::replanned(chosen, rule, e);
  std::string const extents_to_give = detail::static_extents(chosen.sizes, e, n);
  bool const would_fit = better.feasible && bytes_per_device(better.elements_moved(e), n.element_bytes, e) <= budget && !extents_to_give.empty();
  std::string const policy = would_fit ? detail::policy_that_moves(detail::problem_of(chosen, rule), better.elements_moved(e), e) : "";
  return std::string(operation) + ": os::at_most<" + std::to_string(budget) + "> is what each device may move, but for " + describe(e, n) + " the plan moves " +
         describe_bytes(chosen, n, e) + "; " +
         (would_fit
              ? "a plan for these sizes would move " + describe_bytes(better, n, e) + ": " +
                    (policy.empty() ? "" : "take os::at_most<" + std::to_string(budget) + ">(" + policy + "), or ") + "give static extents, " + extents_to_give
              : std::string("raise the budget, or name shardings that move less (os::describe of the plan shows its steps)"));
}

/// The advice, if for the sizes `e` another plan that the rule admits moves at most half of what `chosen` moves, which was decided on its own
/// sizes; else empty.
[[nodiscard, gnu::cold]] inline std::string advice(std::string_view operation, einsum_plan const& chosen, admit rule, extents const& e, naming const& n) {
  std::int64_t const moved = chosen.elements_moved(e);
  if (moved == 0) return "";
  einsum_plan const better = detail::replanned(chosen, rule, e);
  std::int64_t const elements = better.elements_moved(e);
  std::string const extents_to_give = detail::static_extents(chosen.sizes, e, n);
  if (!better.feasible || elements > moved / 2 || extents_to_give.empty()) return "";
  std::string const policy = detail::policy_that_moves(detail::problem_of(chosen, rule), elements, e);
  return "ostraka: " + std::string(operation) + ": for " + describe(e, n) + " the plan moves " + describe_bytes(chosen, n, e) +
         " per device; it was decided on " + describe(chosen.sizes, n) + ", as far as extents are not static. Better for these sizes:\n" +
         describe(better, n, e) + "Remedy: " + (policy.empty() ? "" : "the policy " + policy + ", or ") + "static extents, " + extents_to_give + ".\n";
}

}  // namespace ostraka::planner
