// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Folds of products where B is transposed relative to A, as in C[i] = sum over r of A[i, r] B[r, i]:
/// transposes B tile by tile. For a whole sum, C = sum over i and r, the results of such a fold are its parts.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/portable/transpose_matrix.hpp>

namespace ostraka::engine::detail {

/// The elements of a row of a tile, and the rows of a tile. Rows may be pages apart, so they are long enough for the
/// full bandwidth of memory; and a tile has so many rows that the other operand is also read in long rows. A second
/// cache holds a tile.
template <class T>
inline constexpr std::int64_t tile_row = 1024 / static_cast<std::int64_t>(sizeof(T));
inline constexpr std::int64_t tile_height = 256;

/// The fewest rows or columns that are worth tiles: a cache line of doubles.
inline constexpr std::int64_t worth_a_side = 8;
inline bool is_worth_transposing(std::int64_t width, std::int64_t height) {
  return width >= worth_a_side && height >= worth_a_side;
}

/// element[n pitch + m] = y[i + m, j + n], m < rows, n < columns.
template <class T>
struct transposed_tile {
  std::int64_t i, j, rows, columns;
  T const* element;
  std::int64_t pitch;
};

/// Calls f(tile) for all tiles of y[i, j] = y[i step + j].
template <class T, class F>
[[gnu::noinline]] void for_each_transposed_tile(T const* y, std::int64_t step, std::int64_t height, std::int64_t width,
                                                F const& f) {
  constexpr std::int64_t line = elements_of_line<T>;
  tile_buffer<T, tile_row<T>*(tile_height + 2 * line)> buffer;
  std::int64_t const pitch = ((std::min(height, tile_height) + line - 1) / line | 1) * line;  // an odd number of lines
  for (std::int64_t j = 0; j < width; j += tile_row<T>)
    for (std::int64_t i = 0; i < height; i += tile_height) {
      std::int64_t const rows = std::min(height - i, tile_height), columns = std::min(width - j, tile_row<T>);
      transpose(buffer.data(), pitch, y + i * step + j, step, rows, columns, columns);
      f(transposed_tile<T>{i, j, rows, columns, buffer.data(), pitch});
    }
}

/// Returns the loop in which an operand is contiguous, if the loop is long enough for a side of a tile; otherwise -1.
template <int Operands>
[[nodiscard]] int contiguous_loop(loop_nest<Operands> const& loops, int operand) {
  for (int d = 0; d < loops.rank; ++d)
    if (loops.stride[operand][d] == 1 && loops.extent[d] >= worth_a_side) return d;
  return -1;
}

/// Returns the loop of a whole sum in which b is contiguous, if a is contiguous in another one; otherwise -1.
inline int transposed_loop(loop_nest<2> const& reduced) {
  int const of_a = contiguous_loop(reduced, 0), of_b = contiguous_loop(reduced, 1);
  return of_a >= 0 && of_a != of_b ? of_b : -1;
}

/// If b is transposed relative to a, makes the loop in which b is contiguous the row of outputs if the sum runs along
/// a, otherwise the innermost loop of the sum. The two loops are then the sides of a tile.
inline void match_transposed(loop_nest<3> const& outputs, int& row, loop_nest<2>& reduced, bool in_rows) {
  if (row < 0 || reduced.rank == 0) return;
  int const of_b = in_rows ? contiguous_loop(reduced, 1) : contiguous_loop(outputs, 1);
  if (of_b < 0) return;
  if (in_rows && outputs.stride[1][row] > 1) reduced.make_last(of_b);
  if (!in_rows && reduced.stride[1][reduced.rank - 1] > 1) row = of_b;
}

}  // namespace ostraka::engine::detail
