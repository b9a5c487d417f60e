// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Runs a plan on local blocks: result <- alpha (the plan's value) + beta result. Lowers the plan once for the
/// current extents (known_schedule.hpp) and runs its schedule (running.hpp), for an einsum, a reduction or a reshard,
/// at once or in passes, on dense blocks or blocks with any strides.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/moves/copy_block.hpp>
#include <ostraka/engine/run/known_schedule.hpp>
#include <ostraka/engine/run/one_product.hpp>
#include <ostraka/engine/run/running.hpp>
#include <ostraka/plan/blocks/diagonal.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>

namespace ostraka::engine {

/// An operand's block. With repeated labels, dimension p of the block runs along dimension `along[p]` of the operand.
template <class T>
struct operand_source {
  T const* data = nullptr;
  int const* along = nullptr;  ///< null: each dimension along itself
  box whole{};                 ///< the block's indices, unless `along` is null
};

/// A plan that stays within a limit of workspace, in passes.
struct bounded_plan {
  planner::plan_view plan;
  planner::pass first;
  std::int64_t limit;  ///< in bytes
};

/// Runs the plan of an einsum, a reduction or a reshard. `operands` and `result` are the first elements of dense local
/// blocks; the result is updated and overlaps no operand. `memory` belongs to this plan alone. `functions` are the
/// functions for the kinds of its steps. Collective over the mesh axes of the plan, with equal alpha and beta. @pre
/// alpha = 1 and beta = 0 unless the plan sums
template <class Exec, class T>
void run(Exec const& exec, execution_context const& w, planner::plan_view const& plan, T const* const* operands,
         T* result, update<T> const& how, schedule_memory& memory,
         run_functions<Exec, T> const& functions = every_function<Exec, T>()) {
  require_same_call<T>(w, plan);
  known_schedule& known = memory.of<Exec>(w, plan, how, functions);
  if (run_one_product(exec, w, known, operands, result, how, functions)) return;
  running<Exec, T>(exec, w, plan, known, operands, result, how, functions).run_to_end();
}

/// The same for blocks that may be parts of larger ones, or have other strides. Where an operand covers only a part of
/// its block, the rest counts as zero.
template <class Exec, class T>
void run(Exec const& exec, execution_context const& w, planner::plan_view const& plan,
         strided_block<T const*> const* operands, strided_block<T*> const& result, update<T> const& how,
         schedule_memory& memory, run_functions<Exec, T> const& functions = every_function<Exec, T>()) {
  require_same_call<T>(w, plan);
  planner::strided_box given[planner::result_buffer + 1];
  T const* data[planner::max_operands]{};
  for (int k = 0; k < plan.operands.size(); ++k) {
    given[k] = operands[k];
    data[k] = operands[k].data;
  }
  given[planner::result_buffer] = result;
  running<Exec, T>(exec, w, plan, memory.of<Exec>(w, plan, how, functions, given), data, result.data, how, functions)
      .run_to_end();
}

namespace detail {

template <class T>
strided_block<T*> block_of_result(T* result, box const& where) {
  return dense_block(result, where);
}
template <class T>
strided_block<T*> const& block_of_result(strided_block<T*> const& result, box const&) {
  return result;
}

// Returns the result's block, and writes the operands' blocks; some operands may have repeated labels.
template <class T, class Result>
strided_block<T*> blocks_of(execution_context const& w, planner::plan_view const& plan,
                            operand_source<T> const* operands, Result const& result, strided_block<T const*>* blocks) {
  execution_context whole = w;
  whole.sizes.now = {};
  for (int k = 0; k < plan.operands.size(); ++k) {
    box const target = box_of(plan.operands[k], whole.here, whole.sizes);
    operand_source<T> const& a = operands[k];
    if (a.along == nullptr) {
      blocks[k] = dense_block(a.data, target);
    } else {
      strided_block<std::int64_t> const d = planner::diagonal_of(a.whole, a.along, target);
      blocks[k] = {d, a.data + d.data};
    }
  }
  return block_of_result(result, box_of(*plan.result, whole.here, whole.sizes));
}

}  // namespace detail

/// The same for operands that may have repeated labels. `Result`: `T*`, or a block.
template <class Exec, class T, class Result>
void run(Exec const& exec, execution_context const& w, planner::plan_view const& plan,
         operand_source<T> const* operands, Result const& result, update<T> const& how, schedule_memory& memory,
         run_functions<Exec, T> const& functions = every_function<Exec, T>()) {
  strided_block<T const*> blocks[planner::max_operands];
  strided_block<T*> const target = detail::blocks_of(w, plan, operands, result, blocks);
  run(exec, w, plan, blocks, target, how, memory, functions);
}

namespace detail {

template <class T>
operand_source<T> source_of(T const* data) {
  return {data};
}
template <class T>
operand_source<T> const& source_of(operand_source<T> const& source) {
  return source;
}

}  // namespace detail

/// The same for dense operands and a result with any strides.
template <class Exec, class T>
void run(Exec const& exec, execution_context const& w, planner::plan_view const& plan, T const* const* operands,
         strided_block<T*> const& result, update<T> const& how, schedule_memory& memory,
         run_functions<Exec, T> const& functions = every_function<Exec, T>()) {
  operand_source<T> sources[planner::max_operands];
  for (int k = 0; k < plan.operands.size(); ++k) sources[k] = {operands[k]};
  run(exec, w, plan, sources, result, how, memory, functions);
}

/// Runs a plan within its limit. If it has several passes, each covers a part of one label and writes the part of the
/// result with the same indices; if the label is summed, passes after the first add to it. The plan depends on the
/// limit, so nothing is cached. `Source`: `T const*`, or an operand_source if labels repeat.
template <class Exec, class Source, class Result, class T>
void run(Exec const& exec, execution_context w, bounded_plan const& bounded, Source const* operands,
         Result const& result, update<T> const& how, schedule_memory& memory,
         run_functions<Exec, T> const& functions = every_function<Exec, T>()) {
  workspace_limit<typename Exec::memory_space> const limit(bounded.limit);
  planner::pass const& first = bounded.first;
  bool const summed = first.parts > 1 && bounded.plan.result->find(first.label) < 0;
  operand_source<T> sources[planner::max_operands];
  for (int k = 0; k < bounded.plan.operands.size(); ++k) sources[k] = detail::source_of(operands[k]);
  for (std::int64_t part = 0; part < first.parts; ++part) {
    if (first.parts > 1) {
      w.sizes.now = first;
      w.sizes.now.part = part;
    }
    run(exec, w, bounded.plan, sources, result, part == 0 || !summed ? how : update<T>{how.alpha, T(1)}, memory,
        functions);
  }
}

}  // namespace ostraka::engine
