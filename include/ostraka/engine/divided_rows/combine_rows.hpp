// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The door beside schedules by which states of rows are made one: a largest element and a sum, a mean and
/// deviations, a value and where it stands. Steps of a schedule add numbers; a state is several, and a function makes
/// one of two. Softmax, norms, cross entropies, their derivatives, and reductions that are more than a sum come through
/// here, and nothing else of theirs is sent. The price: moves_of_rows (calls/moves_of_parts.hpp).
///
///     states of [I] on each device along Y    →    the states of whole rows, on all of them, in one message

#include <cstdint>
#include <string>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/collectives/combine_all.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/on_host.hpp>

namespace ostraka::engine {

/// rows[i] <- those of all devices along the mesh axes, made one by `combined` (combine_all.hpp), the same on all. `T`:
/// the elements that check mode compares; `s`: what it calls the tensor. Collective over the mesh axes. @pre the rows
/// are written
template <class T, class Exec, class State, class Combined>
void combine_rows(Exec const& exec, execution_context const& w, planner::spec const& s, planner::mesh_set axes,
                  State* rows, std::int64_t count, Combined const& combined) {
  require_same_call<T>(w, s, axes, [] { return std::string(); });
  with_array_for_mpi(exec, host_work::computes, rows, count,
                     [&](State* all) { combine_all(w.group(axes), all, count, combined); });
}

}  // namespace ostraka::engine
