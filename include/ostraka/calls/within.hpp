// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Applies os::within(bytes) to an operation once it knows its sizes and before it moves anything: finds the
/// plan and the passes that keep within the limit.

#include <cstdint>
#include <string>

#include <ostraka/calls/checked_plan.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/run/execute.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>
#include <ostraka/plan/typed/checks.hpp>
#include <ostraka/plan/workspace/fitting.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

/// The plan and the passes that were chosen last, kept because a program repeats its operations.
struct fit_known {
  planner::extents sizes{};
  std::int64_t limit = -1;
  planner::pass first{};
  dynamic_array<planner::einsum_plan> other{};  ///< instead of the operation's own plan, if there is one
};

/// The error if every plan exceeds the limit of workspace in any passes. It names the labels that prevent further
/// passes.
inline std::string workspace_exceeded(operation_info const& o, planner::einsum_plan const& plan,
                                      planner::extents const& sizes, planner::pass_choice const& least,
                                      std::int64_t limit) {
  auto const bytes = [&](std::int64_t elements) { return planner::describe_bytes(elements * o.names.element_bytes); };
  auto const passes = [&](planner::pass const& p) {
    return join_text(p.parts, " passes over ", o.names.labels[p.label]);
  };
  std::string repeat;
  for (int l = 0; l < sizes.labels; ++l)
    if (!planner::detail::splits_into_passes(plan, l))
      append_text(repeat, repeat.empty() ? "" : ", ", o.names.labels[l]);
  planner::pass_choice const own = planner::choose_passes(plan, sizes, 0);
  std::string text =
      join_text(o.operation, ": os::within(", limit, ") is the workspace that each device may take, but for ",
                planner::describe(sizes, o.names), " the plan takes ", bytes(planner::peak_workspace(plan, sizes)));
  if (own.first.label >= 0) append_text(text, ", and in ", passes(own.first), " at least ", bytes(own.workspace));
  if (!repeat.empty()) append_text(text, " (passes over ", repeat, " would repeat what is moved or multiplied)");
  if (least.workspace < own.workspace)
    append_text(text, ", and the plan that takes least ", bytes(least.workspace),
                least.first.label < 0 ? "" : join_text(" in ", passes(least.first)));
  return join_text(text,
                   "; raise the limit, or name shardings that gather less (os::describe of the plan shows its steps)");
}

/// Finds a plan and passes that fit. A template so that ostraka::compiled can hold it: it contains the planner.
/// @throws ostraka::error, on all devices alike, since all know the sizes
template <class = void>
[[gnu::cold]] void fit(operation_info const& o, std::uint32_t copied, planner::extents const& sizes, std::int64_t limit,
                       std::int64_t budget, fit_known& known) {
  planner::einsum_plan plan = planner::result_in_place(o.plan.value());
  plan.rule = o.rule;
  for (int k = 0; k < plan.operands.size(); ++k) plan.copied[k] = (copied >> k & 1) != 0;
  planner::plan_bounds const bounds = planner::bounds_of(limit, budget, o.names.element_bytes, sizes);
  bool const own = planner::choose_passes(plan, sizes, bounds.workspace).fits;
  planner::fitted_plan const fitted = planner::fit_plan(plan, sizes, bounds);
  if (!fitted.passes.fits) throw error(workspace_exceeded(o, plan, sizes, fitted.passes, limit));
  known = {sizes, limit, fitted.passes.first, {}};
  if (!own) known.other.push_back(fitted.plan);
}

inline engine::bounded_plan fitting_plan(operation_info const& o, std::uint32_t copied, planner::extents const& sizes,
                                         std::int64_t limit, std::int64_t budget, fit_known& known) {
  if (known.limit != limit || known.sizes != sizes) fit(o, copied, sizes, limit, budget, known);
  return {known.other.empty() ? o.plan : planner::plan_view(known.other.front()), known.first, limit};
}

/// The plan that an operation hands to the engine. It keeps within the budget of its policy, and the adviser has seen
/// it. If the policy limits the workspace, the first of the passes that keep within the limit comes with it. Plans
/// known at compile time were checked there.
/// @throws ostraka::error, on all devices alike, if the plan moves more than the budget or takes more than the limit
template <class Policy, class Types, int ElementBytes>
auto plan_to_run(engine::execution_context const& w, [[maybe_unused]] Policy const& policy) {
  planner::plan_view const plan = checked_plan<Policy, Types, ElementBytes>(w);
  if constexpr (limits_workspace<Policy>) {
    static thread_local constinit fit_known* known = nullptr;
    constexpr std::uint32_t copied = [] {
      std::uint32_t bits = 0;
      for (int k = 0; k < planner::max_operands; ++k) bits |= Types::plan.copied[k] ? std::uint32_t{1} << k : 0;
      return bits;
    }();
    return fitting_plan(info_of<Types, Policy::rule, ElementBytes>(w, plan), copied, w.sizes,
                        workspace_limit_of(policy), Policy::budget, engine::per_thread(known));
  } else {
    return plan;
  }
}

}  // namespace ostraka::detail
