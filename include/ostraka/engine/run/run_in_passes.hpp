// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Runs a plan in passes, each over a part of one label (plan/lowering/passes.hpp). A pass is the plan on parts of the
/// operands' blocks, into the part of the result's block with the same indices; where the label is summed, passes after
/// the first add to it.

#include <cstdint>

#include <ostraka/engine/run/execute.hpp>

namespace ostraka::engine {

/// The plan of an einsum or a reduction in `first.parts` passes. As `run`; of several, the operands' blocks outlive
/// them.
template <class Exec, class T>
void run_in_passes(Exec const& exec, execution_context w, planner::plan_view const& plan, planner::pass const& first,
                   local_block<Exec, T>* operands, region<T> const& result, update<T> const& how = {}) {
  if (first.parts == 1) return run(exec, w, plan, operands, result, how);
  bool const summed = plan.result->find(first.label) < 0;
  w.sizes.now = first;
  for (std::int64_t part = 0; part < first.parts; ++part) {
    w.sizes.now.part = part;
    local_block<Exec, T> blocks[planner::max_operands];
    for (int k = 0; k < plan.operands.size(); ++k)
      blocks[k].now = operands[k].now.part(box_of(plan.operands[k], w.here, w.sizes));
    run(exec, w, plan, blocks, result.part(box_of(*plan.result, w.here, w.sizes)),
        part == 0 || !summed ? how : update<T>{how.alpha, T(1)});
  }
}

/// The steps of a reshard in passes. @pre there are steps
template <class Exec, class T>
void run_in_passes(Exec const& exec, execution_context w, planner::reshard_steps const& steps,
                   planner::spec const& from, planner::pass const& first, region<T const> const& source,
                   region<T> const& target) {
  w.sizes.now = first;
  for (std::int64_t part = 0; part < first.parts; ++part) {
    w.sizes.now.part = part;
    run(exec, w, steps, from, source.part(box_of(from, w.here, w.sizes)),
        target.part(box_of(steps[steps.size() - 1].to, w.here, w.sizes)));
  }
}

}  // namespace ostraka::engine
