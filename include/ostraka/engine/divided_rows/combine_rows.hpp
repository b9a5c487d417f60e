// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Combines states of rows outside schedules: a largest element and a sum, a mean and deviations, a value and
/// its position. Steps of a schedule add numbers; a state has several, and a function merges two states. Softmax,
/// norms, cross entropies, their derivatives, and reductions that are more than a sum use this function, and send
/// nothing else. The price: moves_of_rows (calls/moves_of_parts.hpp).
///
///     states of [I] on each device along Y    →    the states of whole rows, on all of them, in one message

#include <cstdint>
#include <string>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/collectives/combine_all.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/on_host.hpp>

namespace ostraka::engine {

/// rows[i] <- the states of all devices along the mesh axes, merged by `combined` (combine_all.hpp), the same on all
/// devices. `T`: the elements that check mode compares; `s`: the tensor in its messages. Collective over the mesh axes.
/// @pre the rows are written
template <class T, class Exec, class State, class Combined>
void combine_rows(Exec const& exec, execution_context const& w, planner::spec const& s, planner::mesh_set axes,
                  State* rows, std::int64_t count, Combined const& combined) {
  require_same_call<T>(w, s, axes, [] { return std::string(); });
  with_array_for_mpi(exec, host_work::computes, rows, count,
                     [&](State* all) { combine_all(w.group(axes), all, count, combined); });
}

}  // namespace ostraka::engine
