// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Runs a plan on local blocks: the operands' into the result's, result <- alpha (what is computed) + beta
/// result.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <utility>

#include <ostraka/engine/kernels/update.hpp>
#include <ostraka/engine/moves/local_block.hpp>
#include <ostraka/engine/moves/moves.hpp>
#include <ostraka/engine/run/known_schedule.hpp>
#include <ostraka/engine/run/plan_run.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/engine/run/known_schedule.hpp>
#include <ostraka/engine/run/run_record.hpp>
#include <ostraka/engine/run/running.hpp>
#include <ostraka/engine/run/running.hpp>
#include <ostraka/engine/spmd/call_in_words.hpp>
#include <ostraka/plan/lowering/decide.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>

namespace ostraka::engine {

/// The dense local block of a plan's operand number `k`.
template <class Exec, class T>
local_block<Exec, T> operand_block(execution_context const& w, planner::plan_view const& plan, int k, T const* data) {
  return {dense_region(data, box_of(plan.operands[k], w.here, w.sizes)), nullptr,
          typename local_block<Exec, T>::room()};
}

namespace detail {

inline void push_run(execution_context const& w, planner::reshard_steps const& steps, planner::spec const& from,
                     int element_bytes) {
  engine::push_run(w, &from, 1, steps.empty() ? from : steps[steps.size() - 1].to, steps.begin(), steps.size(),
                   element_bytes);
}

}  // namespace detail

/// Runs the plan of an einsum or a reduction. `operands` are the operands' local blocks, which are used up; `result` is
/// the result's, which is updated: result <- alpha (what is computed) + beta result. It overlaps no operand. All of
/// them may be parts of larger blocks: a plan runs over some of the indices of a label that it does not divide if the
/// execution context's extent is their number and the regions begin at the first. Collective over the mesh axes of the
/// plan, with equal alpha and beta. @pre alpha = 1 and beta = 0 unless the plan sums
template <class Exec, class T>
void run(Exec const& exec, execution_context const& w, planner::plan_view const& plan, local_block<Exec, T>* operands,
         region<T> const& result, update<T> const& how = {}) {
  require_same_call<T>(w, plan);
  run_record<T>& record = detail::passing_record<T>();
  record.begin(w, how, plan.steps.size());
  detail::plan_run<Exec, T> here(exec, w, plan, record, how);
  for (int k = 0; k < plan.operands.size(); ++k) {
    auto& entered = here.enter(k, operands[k].now, operands[k].now.data);
    entered.mine = operands[k].mine;
    entered.own = std::move(operands[k].own);
  }
  here.to(result);
}

/// The same for operands and a result that lie dense in memory, by a schedule that is known from earlier runs.
template <class Exec, class T>
void run(Exec const& exec, execution_context const& w, planner::plan_view const& plan, T const* const* operands,
         T* result, update<T> const& how, run_memory<T>& memory) {
  require_same_call<T>(w, plan);
  running<Exec, T> here(exec, w, plan, memory.schedules.template of<T>(w, plan, how), operands, result, how);
  here.run_to_end();
}

/// Runs the steps of a reshard from a local block into another, with what is known of these steps. Collective over the
/// mesh axes of the steps.
template <class Exec, class T>
void run(Exec const& exec, execution_context const& w, planner::reshard_steps const& steps, planner::spec const& from,
         region<T const> const& source, region<T> const& target, run_record<T>& record) {
  bool const heard = tool_listens();
  profiled const region_of_run([&] { detail::push_run(w, steps, from, static_cast<int>(sizeof(T))); }, heard);
  require_same_call<T>(w, steps, from);
  local_block<Exec, T> block;
  block.now = source;
  for (int i = 0; i < steps.size(); ++i) {
    profiled const region_of_step([&] { push_step(w, steps[i], static_cast<int>(sizeof(T))); }, heard);
    region<T> const* const room = planner::stays_from(steps, i + 1, steps[i].operand) ? &target : nullptr;
    move(exec, w, steps[i], block, record.steps[static_cast<std::size_t>(i)].of_move(w.group_size(steps[i].axes)),
         room);
  }
  detail::put(exec, block.now, target);
  fence(exec);
}

/// The same for steps that are not run again.
template <class Exec, class T>
void run(Exec const& exec, execution_context const& w, planner::reshard_steps const& steps, planner::spec const& from,
         region<T const> const& source, region<T> const& target) {
  run_record<T>& record = detail::passing_record<T>();
  record.begin(w, {}, steps.size());
  run(exec, w, steps, from, source, target, record);
}

}  // namespace ostraka::engine
