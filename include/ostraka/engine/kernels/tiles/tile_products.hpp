// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Products of the tiles of attention on the host, by the register tiles of our own products
/// (kernels/portable/micro_kernel.hpp). Keys and values are packed once for all tiles of queries that use them. The
/// other operand is read in place, also if transposed, so a product packs nothing:
///
///     S = Q K,  dP = dO V        both rows along the width          panels of keys, packed as columns
///     O += P V,  dQ += dS K      rows along the keys                panels of values and keys, packed as rows
///     dV += P dO,  dK += dS Q    columns of weights, which are read transposed

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/portable/kernel_choice.hpp>
#include <ostraka/engine/kernels/portable/transpose_matrix.hpp>

namespace ostraka::engine::detail {

/// Returns n rounded up to a multiple.
constexpr std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// A matrix in panels that register tiles read line by line: `depth` lines, columns padded with zeros.
template <class T>
struct tile_panels {
  micro_kernel<T> const& micro;
  T* data;
  std::int64_t depth, columns;

  [[nodiscard]] static std::int64_t size(micro_kernel<T> const& micro, std::int64_t depth, std::int64_t columns) {
    return depth * round_up(columns, micro.lanes);
  }
  [[nodiscard]] std::int64_t width(std::int64_t column) const {
    return std::min<std::int64_t>(micro.columns(), round_up(columns - column, micro.lanes));
  }

  /// Packs a dense matrix [depth, columns].
  void pack_rows(T const* from) const { pack_rows(from, 0, depth); }
  void pack_rows(T const* from, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t j = 0; j < columns; j += micro.columns()) {
      std::int64_t const wide = width(j), here = std::min(wide, columns - j);
      T* to = data + j * depth + begin * wide;
      for (std::int64_t l = begin; l < end; ++l, to += wide) {
        for (std::int64_t i = 0; i < here; ++i) to[i] = from[l * columns + j + i];
        for (std::int64_t i = here; i < wide; ++i) to[i] = T(0);
      }
    }
  }
  /// Packs the transposed dense matrix [columns, depth].
  void pack_columns(T const* from) const {
    for (std::int64_t j = 0; j < columns; j += micro.columns()) {
      std::int64_t const wide = width(j), here = std::min(wide, columns - j);
      T* const to = data + j * depth;
      if (here < wide) std::fill(to, to + wide * depth, T(0));
      transpose(to, wide, from + j * depth, depth, here, depth, depth);
    }
  }

  [[nodiscard]] T operator()(std::int64_t line, std::int64_t column) const {
    std::int64_t const first = column / micro.columns() * micro.columns();
    return data[first * depth + line * width(first) + (column - first)];
  }
};

/// An operand whose element i of line l is first[i step + l next].
template <class T>
struct tile_lines {
  T const* first;
  std::int64_t step, next;
};

/// sums[i, j] <- Σ over `depth` lines of a and b, from line `begin` of b on, or += with `adds`, for i < rows and
/// columns [from, to) of b. Rows are padded to those of a register tile, and columns to vectors. @pre `from` begins a
/// panel
template <class T>
void multiply_tile(tile_lines<T> const& a, tile_panels<T> const& b, std::int64_t begin, std::int64_t depth,
                   std::int64_t from, std::int64_t to, T* sums, std::int64_t step, std::int64_t rows, bool adds) {
  micro_kernel<T> const& micro = b.micro;
  std::int64_t lines[micro_kernel<T>::most_rows];
  for (int r = 0; r < micro.rows; ++r) lines[r] = r * step;
  for (std::int64_t j = from; j < to; j += micro.columns()) {
    std::int64_t const wide = b.width(j), used = std::min(wide, round_up(to - j, micro.lanes));
    micro_function<T> const product = micro.of[micro.vectors(static_cast<int>(used)) - 1];
    micro_lines<T> const of_b{b.data + j * b.depth + begin * wide, 1, wide};
    for (std::int64_t i = 0; i < rows; i += micro.rows)
      product(depth, {a.first + i * a.step, a.step, a.next}, of_b, sums + i * step + (j - from), lines, adds);
  }
}

/// sums[i, j] += the same sum without the terms in which a is 0.
template <class T>
[[gnu::cold, gnu::noinline]] void add_seen_terms(tile_lines<T> const& a, tile_panels<T> const& b, std::int64_t begin,
                                                 std::int64_t depth, T* sums, std::int64_t step, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < b.columns; ++j) {
      T sum = 0;
      for (std::int64_t l = 0; l < depth; ++l) {
        T const w = a.first[i * a.step + l * a.next];
        if (w != T(0)) sum += w * b(begin + l, j);
      }
      sums[i * step + j] += sum;
    }
}

}  // namespace ostraka::engine::detail
