// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Sorts this device's block of a tensor along a dimension that is whole here: A[I_X, J] along J.

#include <cstdint>

#include <ostraka/engine/kernels/rows/sort_rows.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

/// @pre x is this device's block, dense; the outputs are as sort_rows takes them
template <bool Largest, class Exec, class T>
void sort_block(Exec const& exec, execution_context const& w, planner::spec const& block, int along, T const* x,
                sorted_output<T> const& out) {
  if (w.mesh->absent()) return;
  std::int64_t extents[max_rank + 1]{};
  for (int i = 0; i < block.rank; ++i) extents[i] = planner::range_of(block, i, w.here, w.sizes).size();
  row_layout const rows = rows_along(extents, block.rank, along);
  profiled const region_of_run(w, [&] {
    push_blocks(w.operation, block, w.names, "reads", rows.size() * static_cast<std::int64_t>(sizeof(T)));
  });
  sort_rows<Largest>(exec, rows, x, out);
}

}  // namespace ostraka::engine
