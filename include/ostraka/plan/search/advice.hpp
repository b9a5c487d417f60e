// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Advice on a plan that was made for nominal sizes and is poor for the actual sizes. The planner that ran at
/// compile time runs again on these sizes, and the two plans are compared. `C[I_X, K] = A[I_X, J] · B[J, K_X]` moves B:
/// for a short I, moving A would be cheaper.

#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/plan/search/price.hpp>
#include <ostraka/plan/search/replan.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::planner {

/// `I=8, J=4096 on X=2 · Y=4`
[[nodiscard, gnu::cold]] inline std::string describe(extents const& e, naming const& n) {
  std::string text;
  for (int l = 0; l < e.labels; ++l) append_text(text, l > 0 ? ", " : "", n.labels[l], '=', e.label[l]);
  for (int m = 0; m < e.mesh_axes; ++m)
    append_text(text, m > 0 ? " · " : e.labels > 0 ? " on " : "on ", n.mesh_axes[m], '=', e.mesh[m]);
  return text;
}

/// The bytes per device that a plan moves for these extents, as text.
[[nodiscard, gnu::cold]] inline std::string describe_bytes(einsum_plan const& plan, naming const& n, extents const& e) {
  return describe_bytes(bytes_per_device(plan.elements_moved(e), n.element_bytes, e));
}

namespace detail {

// The name of a policy with which a product of two tensors, planned for the problem's sizes, is good enough for the
// sizes `e`; empty if there is none. `does(plan)` tests whether a plan is good enough.
template <class Does>
[[gnu::cold]] std::string find_policy(einsum_problem problem, Does const& does) {
  struct choice {
    admit rule;
    char const* name;
  };
  if (problem.rule != admit::any || problem.operands.size() != 2) return "";
  for (choice const& c :
       {choice{admit::no_communication, "os::no_communication"}, choice{admit::reduce_result, "os::reduce_result"},
        choice{admit::gather_left, "os::gather_left"}, choice{admit::gather_right, "os::gather_right"}}) {
    problem.rule = c.rule;
    einsum_plan plan = plan_einsum(problem);
    plan.rule = admit::any;
    if (plan.feasible && does(plan)) return c.name;
  }
  return "";
}

// Adds one extent to the text.
[[gnu::cold]] inline void add_extent(std::string& text, char const* macro, std::string_view name, std::int64_t decided,
                                     std::int64_t is, bool as_hint) {
  if (decided == is || (as_hint && is < 1)) return;
  std::string const number = std::to_string(is);
  append_text(text, text.empty() ? "" : ", ", macro, '(', name, ", ",
              as_hint ? join_text("os::about(", number, ')') : number, ')');
}

// The extents to declare, static or as hints, because the plan was made for others.
[[gnu::cold]] inline std::string extents_to_give(extents const& decided_on, extents const& e, naming const& n,
                                                 bool as_hints) {
  std::string text;
  for (int l = 0; l < e.labels; ++l)
    add_extent(text, "OSTRAKA_AXIS", n.labels[l], decided_on.label[l], e.label[l], as_hints);
  for (int m = 0; m < e.mesh_axes; ++m)
    add_extent(text, "OSTRAKA_MESH_AXIS", n.mesh_axes[m], decided_on.mesh[m], e.mesh[m], as_hints);
  return text;
}

// A lower bound on the price of any plan for the sizes `e`: the work of the best order, divided along all priced mesh
// axes.
[[gnu::cold]] constexpr double least_price(einsum_plan const& plan, extents const& e) {
  if (!plan.computes() || plan.operands.size() > 4) return 0;
  einsum_problem p = problem_of(plan, plan.rule);
  p.sizes = e;
  label_sets const labels(p);
  double least = unbounded;
  for (int i = 0; i < number_of_orders(plan.operands.size()); ++i) {
    double const work = least_work(order_number(i, plan.operands.size()), labels);
    least = work < least ? work : least;
  }
  return least;
}

// The least saving per device, in elements or equivalent work, that is worth advice to the user. For smaller transfers,
// the time of a message does not depend on its length.
inline constexpr double least_saving = 16384;

}  // namespace detail

/// The error if a plan moves more than `budget` bytes per device for the sizes `e`, and its remedy. `has_policy` says
/// that the program gave a policy in addition to the budget; the remedy keeps it.
[[nodiscard]] inline std::string budget_exceeded(std::string_view operation, einsum_plan const& chosen, admit rule,
                                                 extents const& e, naming const& n, std::int64_t budget,
                                                 bool has_policy = false) {
  einsum_plan const better = replan(chosen, rule, e);
  std::string const extents_to_give = detail::extents_to_give(chosen.sizes, e, n, false);
  std::int64_t const elements = better.elements_moved(e);
  bool const would_fit = bytes_per_device(elements, n.element_bytes, e) <= budget && !extents_to_give.empty();
  std::string const policy =
      would_fit && !has_policy
          ? detail::find_policy(detail::problem_of(chosen, rule),
                                [&](einsum_plan const& plan) { return plan.elements_moved(e) <= elements; })
          : "";
  return join_text(
      operation, ": os::at_most<", budget, "> is what each device may move, but for ", describe(e, n),
      " the plan moves ", describe_bytes(chosen, n, e), "; ",
      would_fit ? join_text("a plan for these sizes would move ", describe_bytes(better, n, e), ": take os::at_most<",
                            budget, ">(",
                            has_policy       ? "os::for_these_sizes(the policy that is there)"
                            : policy.empty() ? "os::for_these_sizes"
                                             : policy,
                            "), or give static extents, ", extents_to_give)
                : std::string(
                      "raise the budget, or name shardings that move less (os::describe of the plan shows its steps)"));
}

/// The advice, if, for the sizes `e`, another plan that the rule admits costs at most half of `chosen`, which was made
/// for other sizes, and the difference is worth it; otherwise empty. Costs are prices (price.hpp): moves and work
/// together. `has_policy` says that the program gave a policy.
[[nodiscard, gnu::cold]] inline std::string advice(std::string_view operation, einsum_plan const& chosen, admit rule,
                                                   extents const& e, naming const& n, bool has_policy = false) {
  double const price = price_of(chosen, e);
  double const worth_it =
      detail::least_saving * weight_of_elements(chosen.element_weight) * static_cast<double>(e.devices());
  double const least = detail::least_price(chosen, e);
  if (chosen.communications() == 0 || 2 * least > price || price - least < worth_it) return "";
  einsum_plan better = replan(chosen, rule, e);
  better.rule = chosen.rule;
  double const best = price_of(better, e);
  std::string const hints = detail::extents_to_give(chosen.sizes, e, n, true);
  if (2 * best > price || price - best < worth_it || hints.empty()) return "";
  std::string const other =
      has_policy ? "" : detail::find_policy(detail::problem_of(chosen, rule), [&](einsum_plan const& plan) {
        return price_of(plan, e) <= best;
      });
  auto const times = static_cast<std::int64_t>(best > 0 ? price / best : 0);
  std::int64_t const work = chosen.flops(e);
  std::int64_t const less_work = better.flops(e);
  return join_text("ostraka: ", operation, ": for ", describe(e, n), " the plan moves ", describe_bytes(chosen, n, e),
                   " per device; it was decided on ", describe(chosen.sizes, n),
                   ", as far as extents are not static. Better for these sizes",
                   times > 0 ? join_text(", at some 1/", times, " of the price") : "",
                   less_work < work ? join_text(", with ", describe_number(less_work),
                                                " operations per device instead of ", describe_number(work))
                                    : "",
                   ":\n", describe(better, n, e),
                   "Remedy: ", has_policy ? "os::for_these_sizes(the policy that is there)" : "os::for_these_sizes",
                   " after the operands, ", other.empty() ? "" : join_text("the policy ", other, ", "), "or hints, ",
                   hints, ".\n");
}

}  // namespace ostraka::planner
