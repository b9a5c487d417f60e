// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What an operation looks at once it knows its sizes and before it moves anything: does its plan keep within the budget of
/// os::at_most, and has the adviser something to say?

#include <cstdint>

#include <ostraka/engine/locale.hpp>
#include <ostraka/plan/advice.hpp>
#include <ostraka/plan/checks.hpp>
#include <ostraka/plan/named_plan.hpp>
#include <ostraka/plan/stored_plan.hpp>
#include <ostraka/types/error.hpp>

namespace ostraka::detail {

/// An operation with its plan, the rule that admitted it, and names; free of types from here on.
struct overseen {
  char const* operation;
  planner::plan_view plan;
  planner::admit rule;
  planner::naming names;
};

/// What the adviser knows of an operation: has it spoken, and the sizes that it has looked at, as hashes. Zeros at first.
struct advice_record {
  static constexpr int most_sizes = 16;  // then the program is known well enough
  bool said;
  int count;
  std::uint64_t seen[most_sizes];
};

/// The adviser, if there is one: os::environment appoints it (advise.hpp). A pointer, so that only the file with the environment contains
/// the planner as code that runs.
inline void (*adviser)(overseen const&, planner::extents const&, advice_record&) = nullptr;

template <class Types, planner::admit Rule, int ElementBytes>
overseen look_at(char const* operation) {
  return {operation, stored_plan_of<Types>, Rule, naming_of<typename Types::labels, typename Types::mesh, ElementBytes>};
}

/// Throws if the plan moves more than the budget for the sizes at hand; on all devices alike, since all know the sizes.
inline void keep_within_budget(overseen const& o, planner::extents const& sizes, std::int64_t budget, planner::extents& fitting) {
  if (sizes == fitting) return;
  planner::einsum_plan const plan = o.plan.value();
  if (planner::bytes_per_device(plan.elements_moved(sizes), o.names.element_bytes, sizes) > budget)
    throw error(planner::budget_exceeded(o.operation, plan, o.rule, sizes, o.names, budget));
  fitting = sizes;
}

/// Both. Operations whose sizes are all static were checked while compiling, and planned for these sizes.
template <class Policy, class Types, int ElementBytes>
void oversee([[maybe_unused]] char const* operation, [[maybe_unused]] engine::locale const& w) {
  if constexpr (!all_static<typename Types::labels, typename Types::mesh> && Types::plan.communications() > 0) {
    if constexpr (has_budget<Policy>) {
      static constinit planner::extents fitting{};  // those last found to fit: a program repeats its operations
      keep_within_budget(look_at<Types, Policy::rule, ElementBytes>(operation), w.sizes, Policy::budget, fitting);
    }
    static constinit advice_record record{};
    if (adviser != nullptr && !record.said && !w.mesh->absent() && w.mesh->device() == 0)
      adviser(look_at<Types, Policy::rule, ElementBytes>(operation), w.sizes, record);
  }
}

}  // namespace ostraka::detail
