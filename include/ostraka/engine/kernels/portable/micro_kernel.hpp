// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The innermost product of our own matrix products on the host: C[i, j] = sum over l of A[l, i] B[l, j], i <
/// rows, j < columns, all of C in registers (the register tile of Goto and van de Geijn, Anatomy of High-Performance
/// Matrix Multiplication, 2008). This file has its type, and a version in plain loops.

#include <cstdint>

namespace ostraka::engine::detail {

/// The part of an operand that a tile reads, in a packed panel or in the operand itself: element i of line l is first[i
/// step + l next].
template <class T>
struct micro_lines {
  T const* first;
  std::int64_t step;
  std::int64_t next;
};

/// Writes or adds row i of the tile to c + row_at[i]. For each of `depth` steps, a has a line of rows, and b a line of
/// contiguous columns.
template <class T>
using micro_function = void (*)(std::int64_t depth, micro_lines<T> const& a, micro_lines<T> const& b, T* c,
                                std::int64_t const* row_at, bool adds);

template <class T>
struct micro_kernel {
  static constexpr int most_rows = 8, most_across = 3,
                       most_elements = sizeof(T) <= 64 ? 1536 / static_cast<int>(sizeof(T)) : 24;

  int rows;
  int lanes;                          // columns of a vector
  int across;                         // vectors of the widest tile
  double slowness;                    // time of a multiplication relative to a library's kernel with the same vectors
  micro_function<T> of[most_across];  // tiles of 1, 2, … vectors

  [[nodiscard]] int columns() const { return lanes * across; }
  /// Returns the number of vectors for `width` columns, without a division, which takes as long as ten multiplications.
  [[nodiscard]] int vectors(int width) const { return 1 + (width > lanes) + (width > 2 * lanes); }
};

/// The product in plain loops, for any type and processor.
template <class T, int columns, int rows>
void micro_product(std::int64_t depth, micro_lines<T> const& a, micro_lines<T> const& b, T* c,
                   std::int64_t const* row_at, bool adds) {
  T tile[rows][columns];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) tile[i][j] = T(0);
  for (std::int64_t l = 0; l < depth; ++l)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) tile[i][j] += a.first[l * a.next + i * a.step] * b.first[l * b.next + j];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) c[row_at[i] + j] = adds ? c[row_at[i] + j] + tile[i][j] : tile[i][j];
}

/// Returns the kernel in plain loops.
template <class T>
micro_kernel<T> plain_micro_kernel() {
  return {4, 2, 2, 6, {micro_product<T, 2, 4>, micro_product<T, 4, 4>, nullptr}};
}

}  // namespace ostraka::engine::detail
