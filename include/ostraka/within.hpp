// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What os::within(bytes) asks of an operation once it knows its sizes and before it moves anything: the passes in which its plan
/// keeps within the limit.

#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/engine/locale.hpp>
#include <ostraka/oversee.hpp>
#include <ostraka/plan/checks.hpp>
#include <ostraka/plan/passes.hpp>
#include <ostraka/types/error.hpp>

namespace ostraka::detail {

/// The passes last chosen: a program repeats its operations.
struct passes_known {
  planner::extents sizes{};
  std::int64_t limit = -1;  ///< in elements
  planner::pass first{};
};

/// What is wrong with a plan that takes more workspace in any passes, and which labels stand in the way.
inline std::string workspace_exceeded(overseen const& o, planner::einsum_plan const& plan, planner::extents const& sizes,
                                      planner::pass_choice const& least, std::int64_t limit) {
  auto const bytes = [&](std::int64_t elements) { return planner::describe_bytes(elements * o.names.element_bytes); };
  std::string repeat;
  for (int l = 0; l < sizes.labels; ++l)
    if (!planner::detail::splits_into_passes(plan, l)) repeat += (repeat.empty() ? "" : ", ") + std::string(o.names.labels[l]);
  std::string text = std::string(o.operation) + ": os::within(" + std::to_string(limit) + ") is the workspace that each device may take, but for " +
                     planner::describe(sizes, o.names) + " the plan takes " + bytes(planner::peak_workspace(plan, sizes));
  if (least.first.label >= 0) {
    std::string_view const label = o.names.labels[least.first.label];
    text += ", and in " + std::to_string(least.first.parts) + " passes over " + std::string(label) + " at least " + bytes(least.workspace);
  }
  if (!repeat.empty()) text += " (passes over " + repeat + " would repeat what is moved or multiplied)";
  return text + "; raise the limit, or name shardings that gather less (os::describe of the plan shows its steps)";
}

/// @throws ostraka::error, on all devices alike, since all know the sizes
inline planner::pass passes_for(overseen const& o, std::uint32_t copied, planner::extents const& sizes, std::int64_t limit_bytes, passes_known& known) {
  std::int64_t const limit = limit_bytes / o.names.element_bytes;
  if (known.limit == limit && known.sizes == sizes) return known.first;
  planner::einsum_plan plan = planner::result_in_place(o.plan.value());
  for (int k = 0; k < plan.operands.size(); ++k) plan.copied[k] = (copied >> k & 1) != 0;
  planner::pass_choice const choice = planner::choose_passes(plan, sizes, limit);
  if (!choice.fits) throw error(workspace_exceeded(o, plan, sizes, choice, limit_bytes));
  known = {sizes, limit, choice.first};
  return choice.first;
}

/// The first of the passes in which an operation keeps within its policy's limit. What is known while compiling was checked there.
template <class Policy, class Types, int ElementBytes>
planner::pass passes_within(char const* operation, [[maybe_unused]] engine::locale const& w, Policy const& policy) {
  static constinit passes_known known{};
  constexpr std::uint32_t copied = [] {
    std::uint32_t bits = 0;
    for (int k = 0; k < planner::max_operands; ++k) bits |= Types::plan.copied[k] ? std::uint32_t{1} << k : 0;
    return bits;
  }();
  return passes_for(look_at<Types, Policy::rule, ElementBytes>(operation), copied, w.sizes, workspace_limit_of(policy), known);
}

}  // namespace ostraka::detail
