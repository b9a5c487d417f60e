// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Folds of products where B lies transposed to A, as in C[i] = sum over r of A[i, r] B[r, i]: B is transposed
/// by tiles. A whole sum, C = sum over i and r, has such a fold's results for parts.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/portable/transpose_matrix.hpp>

namespace ostraka::engine::detail {

/// Elements of a row of a tile. Rows may lie pages apart: they are so long that memory answers as fast as it can, and
/// so many to a tile that what they meet is read in long rows, too; a second cache holds them.
template <class T>
inline constexpr std::int64_t tile_row = 1024 / static_cast<std::int64_t>(sizeof(T));
inline constexpr std::int64_t tile_height = 256;

/// Are a fold's operand's rows, whose elements lie side by side, worth being transposed?
inline bool is_worth_transposing(std::int64_t width, std::int64_t height) { return width >= 8 && height >= 8; }

/// element[n pitch + m] = y[i + m, j + n], m < rows, n < columns.
template <class T>
struct transposed_tile {
  std::int64_t i, j, rows, columns;
  T const* element;
  std::int64_t pitch;
};

/// Calls f(tile) for all tiles of y[i, j] = y[i step + j].
template <class T, class F>
[[gnu::noinline]] void for_each_transposed_tile(T const* y, std::int64_t step, std::int64_t height, std::int64_t width, F const& f) {
  tile_buffer<T, tile_row<T> * tile_height> buffer;
  std::int64_t const pitch = (std::min(height, tile_height) + 15) / 16 * 16;  // rows begin where vectors do
  for (std::int64_t j = 0; j < width; j += tile_row<T>)
    for (std::int64_t i = 0; i < height; i += tile_height) {
      std::int64_t const rows = std::min(height - i, tile_height), columns = std::min(width - j, tile_row<T>);
      transpose(buffer.data(), pitch, y + i * step + j, step, rows, columns, columns);
      f(transposed_tile<T>{i, j, rows, columns, buffer.data(), pitch});
    }
}

/// The loop of a whole sum in which b is contiguous although a is in another one; -1 if there is none.
inline int transposed_loop(loop_nest<2> const& reduced) {
  int of_a = -1, of_b = -1;
  for (int d = 0; d < reduced.rank; ++d) {
    if (reduced.stride[0][d] == 1) of_a = d;
    if (reduced.stride[1][d] == 1) of_b = d;
  }
  bool const is_transposed = of_a >= 0 && of_b >= 0 && of_a != of_b;
  return is_transposed && is_worth_transposing(reduced.extent[of_b], reduced.extent[of_a]) ? of_b : -1;
}

}  // namespace ostraka::engine::detail
