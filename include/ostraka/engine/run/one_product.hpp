// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A schedule that is one product of the call's own blocks, C[I_X] = A[I_X, J] B[J]. It needs neither messages
/// nor workspace, so it is computed without a run (running.hpp), whose state takes longer to set up than a product of a
/// few numbers.

#include <ostraka/engine/machine/progress.hpp>
#include <ostraka/engine/run/known_schedule.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/engine/run/report_run.hpp>
#include <ostraka/engine/run/run_functions.hpp>

namespace ostraka::engine {

/// Returns the factors of an action: 0, 1, or those of the call.
template <class T>
[[nodiscard]] update<T> update_of(planner::scaling how, update<T> const& given) {
  using wide = accumulator_of_t<T>;
  using planner::factor;
  static_assert(int(factor::zero) == 0 && int(factor::one) == 1 && int(factor::given) == 2);
  wide const alpha[] = {wide(0), wide(1), given.alpha}, beta[] = {wide(0), wide(1), given.beta};
  return {alpha[static_cast<int>(how.alpha)], beta[static_cast<int>(how.beta)]};
}

/// Computes the schedule if it is one product and no tool or counter observes it. @returns whether it did
template <class Exec, class T>
bool run_one_product(Exec const& exec, execution_context const& w, known_schedule& known, T const* const* operands,
                     T* result, update<T> const& how, run_functions<Exec, T> const& functions) {
  if (!known.is_one_product || counts_flops() || is_profiled(w)) return false;
  if (functions.contract == nullptr) planner::lacks_function();
  planner::product const& p = known.schedule.products[0];
  functions.contract(exec, p.loops, operands[p.begin[0].buffer] + p.begin[0].at,
                     operands[p.begin[1].buffer] + p.begin[1].at, result + p.begin[2].at,
                     update_of(known.schedule.actions[0].how, how), known.product_plans[0], functions.products);
  progress();
  fence_on_host(exec);
  return true;
}

}  // namespace ostraka::engine
