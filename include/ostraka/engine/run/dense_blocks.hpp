// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What operations call beside the plain `run` of execute.hpp: operands of which some stand under labels that
/// repeat, and runs within a limit of workspace. Operands and result are dense blocks, each given by where it begins.

#include <cstdint>

#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/moves/diagonal.hpp>
#include <ostraka/engine/run/execute.hpp>
#include <ostraka/engine/run/run_in_passes.hpp>

namespace ostraka::engine {

/// An operand's block. Under labels that may repeat: dimension p of the block runs along dimension `along[p]` of the
/// operand.
template <class T>
struct operand_source {
  T const* data = nullptr;
  int const* along = nullptr;  ///< null: each dimension along itself
  box whole{};                 ///< the block's indices, unless `along` is null
};

/// A plan that keeps within a limit of workspace, in passes.
struct bounded_plan {
  planner::plan_view plan;
  planner::pass first;
  std::int64_t limit;  ///< in bytes
};

/// The same for the steps of a reshard.
struct bounded_steps {
  planner::reshard_steps steps;
  planner::pass first;
  std::int64_t limit;
};

namespace detail {

template <class Exec, class T>
local_block<Exec, T> entering(Exec const&, execution_context const& w, planner::plan_view const& plan, int k,
                              T const* data) {
  return operand_block<Exec>(w, plan, k, data);
}

template <class Exec, class T>
local_block<Exec, T> entering(Exec const& exec, execution_context const& w, planner::plan_view const& plan, int k,
                              operand_source<T> const& a) {
  if (a.along == nullptr) return operand_block<Exec>(w, plan, k, a.data);
  return diagonal_of(exec, dense_region(a.data, a.whole), a.along, box_of(plan.operands[k], w.here, w.sizes));
}

}  // namespace detail

/// Runs a plan on operands of which some stand under labels that repeat. As `run` of dense blocks, but of what earlier
/// runs have found out only the places in memory are known.
template <class Exec, class T>
void run(Exec const& exec, execution_context const& w, planner::plan_view const& plan,
         operand_source<T> const* operands, T* result, update<T> const& how, run_memory<T>& memory) {
  placed_run<typename Exec::memory_space> const in_places(&memory.of(w, how, plan.steps.size()).places);
  local_block<Exec, T> blocks[planner::max_operands];
  for (int k = 0; k < plan.operands.size(); ++k) blocks[k] = detail::entering(exec, w, plan, k, operands[k]);
  run(exec, w, plan, blocks, dense_region(result, box_of(*plan.result, w.here, w.sizes)), how);
}

/// Runs a plan within its limit. `Source`: `T const*`, or an operand_source where labels repeat.
template <class Exec, class Source, class T>
void run(Exec const& exec, execution_context const& w, bounded_plan const& bounded, Source const* operands, T* result,
         update<T> const& how, run_memory<T>&) {
  workspace_limit<typename Exec::memory_space> const limit(bounded.limit);
  local_block<Exec, T> blocks[planner::max_operands];
  for (int k = 0; k < bounded.plan.operands.size(); ++k)
    blocks[k] = detail::entering(exec, w, bounded.plan, k, operands[k]);
  run_in_passes(exec, w, bounded.plan, bounded.first, blocks,
                dense_region(result, box_of(*bounded.plan.result, w.here, w.sizes)), how);
}

namespace detail {

inline planner::spec const& target_of(planner::reshard_steps const& steps, planner::spec const& from) {
  return steps.empty() ? from : steps[steps.size() - 1].to;
}

}  // namespace detail

/// Runs the steps of a reshard from a dense block into another.
template <class Exec, class T>
void run(Exec const& exec, execution_context const& w, planner::reshard_steps const& steps, planner::spec const& from,
         T const* source, T* target, run_memory<T>& memory) {
  run(exec, w, planner::plan_view(from, detail::target_of(steps, from), steps), &source, target, update<T>(), memory);
}

/// The same within a limit.
template <class Exec, class T>
void run(Exec const& exec, execution_context const& w, bounded_steps const& bounded, planner::spec const& from,
         T const* source, T* target, run_memory<T>& memory) {
  if (bounded.steps.empty()) return run(exec, w, bounded.steps, from, source, target, memory);
  workspace_limit<typename Exec::memory_space> const limit(bounded.limit);
  run_in_passes(exec, w, bounded.steps, from, bounded.first, dense_region(source, box_of(from, w.here, w.sizes)),
                dense_region(target, box_of(detail::target_of(bounded.steps, from), w.here, w.sizes)));
}

}  // namespace ostraka::engine
