// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Fourier transforms of this device's block of a tensor, along a dimension that is whole here.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/fourier/transform_rows.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

/// Transforms of length n. @pre x is this device's block, dense, and y has room for what `kind` writes of n
template <class R, class Exec, class T, class U>
void transform_block(Exec const& exec, execution_context const& w, planner::spec const& block, int along,
                     fourier_kind kind, std::int64_t n, T const* x, U* y) {
  if (w.mesh->absent()) return;
  fourier_rows rows{kind, n, 1, 1, std::is_same_v<T, R>};
  for (int d = 0; d < block.rank; ++d)
    if (d != along) (d < along ? rows.outer : rows.step) *= planner::range_of(block, d, w.here, w.sizes).size();
  std::int64_t const bytes = rows.count() * (rows.length_read() * static_cast<std::int64_t>(sizeof(T)) +
                                             rows.length_written() * static_cast<std::int64_t>(sizeof(U)));
  profiled const region_of_run([&] { push_blocks(w.operation, block, w.names, "reads and writes", bytes); });
  transform_rows(exec, rows, reinterpret_cast<R const*>(x), reinterpret_cast<R*>(y));
}

}  // namespace ostraka::engine
