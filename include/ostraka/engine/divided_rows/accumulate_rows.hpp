// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Reduces a block to states of an accumulator, on this device and then between devices: for mean and
/// deviations of A[I_X, J_Y] over J, the states of [I_X] are merged over the devices along Y. At the end the states are
/// written as numbers.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/divided_rows/combine_rows.hpp>
#include <ostraka/engine/kernels/accumulators/accumulate_block.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

/// Returns the loops that reduce this device's block of `operand` to the labels of `rows`. The index of an element is
/// its row-major position among all reduced elements, in the operand's order of labels.
inline accumulation_loops loops_to_rows(execution_context const& w, planner::spec const& operand,
                                        planner::spec const& rows) {
  accumulation_loops loops;
  std::int64_t step = planner::block_size(operand, w.here, w.sizes), index_step = 1;
  for (int i = 0; i < operand.rank; ++i)
    if (rows.find(operand.label[i]) < 0) index_step *= w.sizes.label[operand.label[i]];
  for (int i = 0; i < operand.rank; ++i) {
    planner::range const held = planner::range_of(operand, i, w.here, w.sizes);
    step = held.size() > 0 ? step / held.size() : 0;
    if (rows.find(operand.label[i]) >= 0) {
      loops.results.add(held.size(), step);
      continue;
    }
    std::int64_t const whole = w.sizes.label[operand.label[i]];
    index_step = whole > 0 ? index_step / whole : 0;
    loops.first_index += held.begin * index_step;
    loops.reduced.add(held.size(), step, index_step);
  }
  return loops;
}

namespace detail {

template <class State, class R, class Finish>
struct finish_states {
  State const* states;
  R* to;
  Finish finish;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { to[i] = static_cast<R>(finish(states[i])); }
};

}  // namespace detail

/// to[r] <- finish(the state of row r) over the elements of all devices along `axes`, each of which gets the result.
/// `operand` and `rows` have dense blocks here. Collective over the mesh axes.
template <class Accumulator, class Exec, class R, class Finish>
void accumulate_rows(Exec const& exec, execution_context const& w, planner::spec const& operand,
                     planner::spec const& rows, planner::mesh_set axes, typename Accumulator::element const* x, R* to,
                     Finish const& finish) {
  using state = typename Accumulator::state;
  std::int64_t const elements = planner::block_size(operand, w.here, w.sizes);
  std::int64_t const count = planner::block_size(rows, w.here, w.sizes);
  profiled const region_of_run(w, [&] {
    push_blocks(w.operation, operand, w.names, "reads",
                elements * static_cast<std::int64_t>(sizeof(typename Accumulator::element)));
  });
  if (w.mesh->absent()) return;
  kernel_scratch<state, typename Exec::memory_space> const states(count);
  accumulate<Accumulator>(exec, loops_to_rows(w, operand, rows), x, states.data());
  if (!axes.empty())
    combine_rows<typename Accumulator::element>(exec, w, operand, axes, states.data(), count,
                                                combine_states_of<Accumulator>{});
  for_each_item("ostraka finish rows", exec, count, count,
                detail::finish_states<state, R, Finish>{states.data(), to, finish});
  fence_on_host(exec);
}

}  // namespace ostraka::engine
