// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Sums one number per device over mesh axes, on the host: one all-reduce without blocks or a plan.

#include <string>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/collectives/all_reduce_in_flight.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/spec.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// Returns the sum over the devices along `axes`, bitwise the same on each of them. Collective over the mesh axes.
template <class = void>
double sum_over(execution_context const& w, planner::mesh_set axes, double here) {
  if (w.mesh->absent() || axes.empty()) return here;
  profiled const region_of_run(w, [&] { push_region(join_text(w.operation, ", adds up a number of each device's")); });
  require_same_call<double>(w, planner::spec{}, axes, [] { return std::string(); });
  all_reduce(w.group(axes), &here, 1, reduction::sum);
  return here;
}

}  // namespace ostraka::engine
