// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Combines states of rows outside schedules: a largest element and a sum, a mean and deviations, a value and
/// its position. The steps of a schedule add numbers; a state consists of several numbers, and a function merges two
/// states. Softmax, norms, cross entropies, their derivatives, and reductions other than sums use this function, and
/// send nothing else. moves_of_rows (calls/moves_of_parts.hpp) prices it.
///
///     states of [I] on each device along Y    →    the states of whole rows, on all of them, in one message

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/collectives/combine_all.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>

namespace ostraka::engine {

/// The function of an accumulator that combines states, for kernels.
template <class Accumulator>
struct combine_states_of {
  using state = typename Accumulator::state;
  KOKKOS_INLINE_FUNCTION state operator()(state const& a, state const& b) const { return Accumulator::combined(a, b); }
};

/// rows[i] <- the states of all devices along the mesh axes, merged by `combined` (combine_all.hpp), the same on all
/// devices. `T`: the elements that check mode compares; `s`: the tensor in its messages. Collective over the mesh axes.
template <class T, class Exec, class State, class Combined>
void combine_rows(Exec const& exec, execution_context const& w, planner::spec const& s, planner::mesh_set axes,
                  State* rows, std::int64_t count, Combined const& combined) {
  require_same_call<T>(w, s, axes, [] { return std::string(); });
  fence_before_messages(exec);
  arrays_of<Exec> arrays(exec);
  combine_all(w.group(axes), arrays, rows, count, combined);
  fence_on_host(exec, arrays);
}

}  // namespace ostraka::engine
