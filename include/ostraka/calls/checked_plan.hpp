// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The plan that an operation runs, chosen once it knows its sizes and before it moves anything: the plan that
/// was made at compile time, or one for the run-time sizes. It keeps within the budget of os::at_most, and the adviser
/// sees it.

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/environment/adviser.hpp>
#include <ostraka/plan/search/advice.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>
#include <ostraka/plan/typed/checks.hpp>
#include <ostraka/plan/typed/named_plan.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/recent_entries.hpp>

namespace ostraka::detail {

template <class Types, planner::admit Rule, int ElementBytes>
operation_info info_of(engine::execution_context const& w, planner::plan_view const& plan = stored_plan_of<Types>,
                       bool has_policy = false) {
  return {w.operation, plan, Rule, naming_of<typename Types::labels, typename Types::mesh, ElementBytes>, has_policy};
}

/// Throws if the plan moves more than the budget at these sizes; on all devices alike, since all know the sizes.
inline void keep_within_budget(operation_info const& o, planner::extents const& sizes, std::int64_t budget,
                               planner::extents& fitting) {
  if (sizes == fitting) return;
  planner::einsum_plan const plan = o.plan.value();
  if (planner::bytes_per_device(plan.elements_moved(sizes), o.names.element_bytes, sizes) > budget)
    throw error(planner::budget_exceeded(o.operation, plan, o.rule, sizes, o.names, budget, o.has_policy));
  fitting = sizes;
}

/// The plan for the run-time sizes. A template so that ostraka::compiled can hold it: it contains the planner.
template <class = void>
[[gnu::cold]] planner::einsum_plan plan_at_run_time(operation_info const& o, planner::extents const& sizes) {
  planner::einsum_plan plan = planner::replan(o.plan.value(), o.rule, sizes);
  plan.sizes = sizes;
  return plan;
}

/// The plans that a host thread last made at run time for one operation. Their number is bounded.
class recent_plans {
 public:
  /// The plan for these sizes. It stays until seven others have been made.
  planner::plan_view of(operation_info const& o, planner::extents const& sizes) {
    for (auto const& known : plans_)
      if (known.front().sizes == sizes) return known.front();
    dynamic_array<planner::einsum_plan> made;
    made.push_back(plan_at_run_time<>(o, sizes));
    return plans_.add(static_cast<dynamic_array<planner::einsum_plan>&&>(made)).front();
  }

 private:
  recent_entries<dynamic_array<planner::einsum_plan>, 8> plans_;  // one each, so that none changes its address
};

/// True if the plan is made when the operation runs.
template <class Policy, class Types>
inline constexpr bool is_planned_at_run_time =
    !all_static<typename Types::labels, typename Types::mesh> &&
    (Policy::plans_at_run_time || Policy::limits_workspace);

/// Steps that were planned at compile time, as an operation knows them before it has its sizes.
template <class Policy, class Types, class Steps>
engine::steps_ahead steps_ahead_of(Steps const& planned) {
  engine::steps_ahead steps(planned);
  steps.may_change = is_planned_at_run_time<Policy, Types>;
  return steps;
}

/// The plan that an operation runs: the one that was made at compile time, or one for the run-time sizes.
template <class Policy, class Types, int ElementBytes>
planner::plan_view select_plan([[maybe_unused]] engine::execution_context const& w) {
  if constexpr (is_planned_at_run_time<Policy, Types>) engine::require_same_sizes(w);
  if constexpr (Policy::plans_at_run_time && !all_static<typename Types::labels, typename Types::mesh>) {
    static thread_local constinit recent_plans* known = nullptr;
    return engine::per_thread(known).of(info_of<Types, Policy::rule, ElementBytes>(w), w.sizes);
  } else {
    return stored_plan_of<Types>;
  }
}

/// True if the program gave a policy, which may be a budget.
template <class Policy>
inline constexpr bool gives_policy = !std::is_same_v<Policy, policy<planner::admit::any>>;

/// The adviser's record of the operation.
template <class Policy, class Types, int ElementBytes>
inline constinit advice_record advice_of{};

/// True if the stored plan runs and there is no limit to check. The adviser may still look at it.
template <class Policy>
inline constexpr bool is_stored_plan = !Policy::plans_at_run_time && !has_budget<Policy> && !limits_workspace<Policy>;

template <class Policy, class Types>
inline constexpr bool is_advised = !all_static<typename Types::labels, typename Types::mesh> &&
                                   Types::plan.communications() > 0 && !Policy::plans_at_run_time;

/// The plan that an operation runs. It keeps within its budget, and the adviser has seen it. If all sizes are static,
/// it was made for them and checked at compile time.
/// @throws ostraka::error, on all devices alike, if the plan moves more than the budget
template <class Policy, class Types, int ElementBytes>
planner::plan_view checked_plan([[maybe_unused]] engine::execution_context const& w) {
  planner::plan_view const plan = select_plan<Policy, Types, ElementBytes>(w);
  if constexpr (!all_static<typename Types::labels, typename Types::mesh> &&
                (Types::plan.communications() > 0 || Policy::plans_at_run_time)) {
    if constexpr (has_budget<Policy>) {
      static thread_local constinit planner::extents* fitting =
          nullptr;  // the last to fit: a program repeats its operations
      keep_within_budget(info_of<Types, Policy::rule, ElementBytes>(
                             w, plan, !std::is_same_v<Policy, limited<Policy::budget, policy<planner::admit::any>>>),
                         w.sizes, Policy::budget, engine::per_thread(fitting));
    }
    if constexpr (!Policy::plans_at_run_time)
      advise(w, info_of<Types, Policy::rule, ElementBytes>(w, stored_plan_of<Types>, gives_policy<Policy>),
             advice_of<Policy, Types, ElementBytes>);
  }
  return plan;
}

}  // namespace ostraka::detail
