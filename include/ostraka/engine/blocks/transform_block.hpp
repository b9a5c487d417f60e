// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Fourier transforms of this device's block of a tensor, along dimensions that are whole here.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/fourier/transform_in_turn.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

/// Transforms along several dimensions, in this order. `kind` applies to the dimension that is real on one side: the
/// first if the input is real, the last if the result is. All other transforms are complex. n: the length of a
/// transform to real numbers.
/// @pre x is this device's block, dense, and y has room for the result; or y is x, and all numbers are complex
template <class R, class Exec, class T, class U>
void transform_block(Exec const& exec, execution_context const& w, planner::spec const& block, int const* along,
                     int count, fourier_kind kind, std::int64_t n, T const* x, U* y) {
  if (w.mesh->absent()) return;
  std::int64_t extents[max_rank];
  for (int d = 0; d < block.rank; ++d) extents[d] = planner::range_of(block, d, w.here, w.sizes).size();
  fourier_rows all[max_rank];
  for (int k = 0; k < count; ++k) {
    bool const is_real = (k == 0 && has_half_spectrum(kind)) || (k == count - 1 && has_real_result(kind));
    fourier_rows& rows = all[k] = {is_real ? kind : complex_kind(kind)};
    rows.n = has_real_result(rows.kind) ? n : extents[along[k]];
    rows.of_reals = k == 0 && std::is_same_v<T, R>;
    for (int d = 0; d < block.rank; ++d)
      if (d != along[k]) (d < along[k] ? rows.outer : rows.step) *= extents[d];
    extents[along[k]] = rows.length_written();
  }
  std::int64_t const bytes =
      (all[0].numbers_read() + all[count - 1].numbers_written()) * static_cast<std::int64_t>(sizeof(R));
  profiled const region_of_run(w, [&] { push_blocks(w.operation, block, w.names, "reads and writes", bytes); });
  transform_in_turn(exec, all, count, reinterpret_cast<R const*>(x), reinterpret_cast<R*>(y));
}

}  // namespace ostraka::engine
