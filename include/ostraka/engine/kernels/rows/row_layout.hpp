// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A dense block as rows along one of its dimensions. Element k of row (o, i) is at (o · length + k) · step +
/// i: `outer` groups of `step` adjacent rows.
///
///     dimension 1 of [2, 5, 3]:  outer 2, length 5, step 3
///     the last dimension:        step 1, and rows are consecutive

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace ostraka::engine {

/// The layout of rows.
struct row_layout {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t step = 1;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t count() const { return outer * step; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t size() const { return outer * step * length; }
  /// Returns the offset of the first element of a row.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t first(std::int64_t row) const {
    return row / step * step * length + row % step;
  }
};

/// Returns the rows along dimension `along` of a dense block of these extents.
inline row_layout rows_along(std::int64_t const* extents, int rank, int along) {
  row_layout rows;
  for (int d = 0; d < rank; ++d) (d < along ? rows.outer : d > along ? rows.step : rows.length) *= extents[d];
  return rows;
}

}  // namespace ostraka::engine
