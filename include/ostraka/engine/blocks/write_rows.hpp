// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Writes rows at a position of an axis, on the device that holds that position: cache[b, t + k] <- rows[b,
/// k]. Nothing is sent.

#include <cstdint>

#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/plan/blocks/box.hpp>

namespace ostraka::engine {

/// cache <- rows, `count` of them, at indices t, t + 1, … of dimension `along`, which is whole in `rows`. Both blocks
/// are dense and have the same layout along the other dimensions. On the host, it returns when all rows are written.
template <class Exec, class T>
void write_rows(Exec const& exec, execution_context const& w, planner::spec const& cache, int along, std::int64_t t,
                std::int64_t count, T* to, T const* from) {
  planner::box const block = planner::box_of(cache, w.here, w.sizes);
  planner::range const own = block.at[along];
  planner::range const written = planner::intersect(own, {t, t + count});
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (int d = 0; d < block.rank; ++d)
    if (d != along) (d < along ? outer : inner) *= block.at[d].size();
  strided const into = strided().add(outer, own.size() * inner).add(written.size() * inner, 1);
  strided const out_of = strided().add(outer, count * inner).add(written.size() * inner, 1);
  copy(exec, to + (written.begin - own.begin) * inner, into, from + (written.begin - t) * inner, out_of);
  fence_on_host(exec);
}

}  // namespace ostraka::engine
