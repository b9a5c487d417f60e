// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The code between our register tiles (micro_kernel.hpp) and blocks of any strides: it packs operands into
/// panels, whose lines a tile reads one after the other, and writes results from the tile to their places. For example,
/// a tile (b c) by (a d) is written to C[a, b, c, d].

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include <ostraka/engine/kernels/folds/fold_kernel.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/portable/transpose_matrix.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>

namespace ostraka::engine::detail {

/// The offsets of iterations begin, begin + 1, … of a loop nest in its two operands, and the iterations at which the
/// second operand jumps.
struct run_offsets {
  std::int64_t* at[2];
  std::uint64_t* jumps;  // one bit per iteration; 1: not adjacent to the previous one in the second operand
  std::int64_t begin = -1;
  int count = 0;

  /// Computes the tables for `how_many` iterations. @pre the tables are long enough, and all calls have the same loops
  void move_to(loop_nest<2> const& loops, std::int64_t first, std::int64_t how_many) {
    if (begin == first) return;
    begin = first;
    count = static_cast<int>(how_many);
    for (int word = 0; word <= count / 64 + 1; ++word) jumps[word] = 0;
    int const inner = loops.rank - 1;
    std::int64_t const step[2] = {inner >= 0 ? loops.stride[0][inner] : 0, inner >= 0 ? loops.stride[1][inner] : 0};
    loop_walker<2> walker(loops, first);
    for (int i = 0, run = 0; i < count; i += run, walker.skip(run)) {
      run = inner >= 0 ? static_cast<int>(std::min<std::int64_t>(count - i, loops.extent[inner] - walker.index[inner]))
                       : 1;
      for (int o = 0; o < 2; ++o)
        for (int r = 0; r < run; ++r) at[o][i + r] = walker.offset[o] + r * step[o];
      for (int r = 0; r < (step[1] == 1 ? 1 : run); ++r)
        if (i + r == 0 || at[1][i + r] != at[1][i + r - 1] + 1) jumps[(i + r) / 64] |= std::uint64_t(1) << (i + r) % 64;
    }
  }

  /// Returns bits: bit j is set if i + j is not adjacent to i + j - 1 in the second operand, 0 < j < width. 0: all are
  /// contiguous. @pre width <= 64
  std::uint64_t breaks(int i, int width) const {
    std::uint64_t const low = jumps[i / 64] >> i % 64, high = i % 64 == 0 ? 0 : jumps[i / 64 + 1] << (64 - i % 64);
    return (low | high) & ~std::uint64_t(0) >> (64 - width) & ~std::uint64_t(1);
  }
};

/// The same with tables for `most` iterations.
template <int most>
struct offsets_of_run : run_offsets {
  offsets_of_run() : run_offsets{{places[0], places[1]}, bits} {}
  offsets_of_run(offsets_of_run const&) = delete;
  offsets_of_run& operator=(offsets_of_run const&) = delete;

  std::int64_t places[2][most];
  std::uint64_t bits[most / 64 + 2];
};

/// Returns the constant step between `count` offsets; 0 if it is not constant.
inline std::int64_t step_of(std::int64_t const* at, int count) {
  if (count < 2) return 1;
  std::int64_t const step = at[1] - at[0];
  for (int i = 2; i < count; ++i)
    if (at[i] - at[i - 1] != step) return 0;
  return step;
}

/// Returns the number of leading offsets that are contiguous.
inline int side_by_side(std::int64_t const* at, int count) {
  int i = 1;
  while (i < count && at[i] == at[i - 1] + 1) ++i;
  return i;
}

/// to[i] = from[i], without calling memmove, which takes longer than copying a short run.
template <class T>
void copy_run(T* to, T const* from, std::int64_t count) {
  constexpr std::int64_t block = 4;
  std::int64_t i = 0;
  for (; i + block <= count; i += block) std::memcpy(static_cast<void*>(to + i), from + i, block * sizeof(T));
  for (; i < count; ++i) to[i] = from[i];
}

/// to[l step + i] = from[k_at[l] + i] for i < count. Prefetches lines, which are apart, because no processor does so;
/// and copies them with wide vectors, with which a core looks more lines ahead.
template <class T>
void copy_lines(T* to, std::int64_t step, T const* from, int count, std::int64_t const* k_at, int depth) {
  constexpr int lines_ahead = 16, wide = 8;
  if (count % wide != 0) {
    for (int l = 0; l < depth; ++l) copy_run(to + l * step, from + k_at[l], count);
    return;
  }
  with_wide_vectors([=] {
    for (int l = 0; l < depth; ++l) {
      if (l + lines_ahead < depth) prefetch(from + k_at[l + lines_ahead], count);
      for (int i = 0; i < count; i += wide)
        std::memcpy(static_cast<void*>(to + l * step + i), from + k_at[l] + i, wide * sizeof(T));
    }
  });
}

/// panel[l, i] = from[at[i] + k_at[l]] one by one, four i at a time, so that almost only loads and stores remain.
template <class T>
void pack_scattered(T* panel, int width, T const* from, std::int64_t const* at, int count, std::int64_t const* k_at,
                    int depth) {
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    T const* const x0 = from + at[i];
    T const* const x1 = from + at[i + 1];
    T const* const x2 = from + at[i + 2];
    T const* const x3 = from + at[i + 3];
    T* to = panel + i;
    _Pragma("GCC unroll 2") for (int l = 0; l < depth; ++l, to += width) {  // as fast wherever the linker puts it
      std::int64_t const k = k_at[l];
      T const four[4] = {x0[k], x1[k], x2[k], x3[k]};
      std::memcpy(static_cast<void*>(to), four, sizeof(four));
    }
  }
  for (; i < count; ++i)
    for (int l = 0; l < depth; ++l) panel[l * width + i] = from[at[i] + k_at[l]];
}

/// panel[l, i] = from[at[i] + k_at[l]] for i < count, 0 up to `width`: run by run along i or along the sum, if there
/// are runs.
template <class T>
void pack_panel(T* panel, int width, T const* from, std::int64_t const* at, int count, std::int64_t const* k_at,
                int depth) {
  int const run = side_by_side(at, count);
  constexpr int shortest_transposed = 16;  // for fewer elements tiles overlap, and one by one is as fast
  bool const sum_runs = run < count && side_by_side(k_at, std::min(depth, shortest_transposed)) == shortest_transposed;
  std::int64_t const step = sum_runs ? step_of(at, count) : 0;
  if (count < width) std::fill(panel, panel + std::int64_t(depth) * width, T(0));
  if (step != 0) {
    for (int l = 0, together = 0; l < depth; l += together) {
      together = side_by_side(k_at + l, depth - l);
      transpose(panel + l * width, width, from + at[0] + k_at[l], step, count, together);
    }
  } else if (2 * run >= count) {
    for (int i = 0, together = 0; i < count; i += together) {
      together = side_by_side(at + i, count - i);
      copy_lines(panel + i, width, from + at[i], together, k_at, depth);
    }
  } else {
    pack_scattered(panel, width, from, at, count, k_at, depth);
  }
}

/// c[row_at[i] + column_at[j]] <- tile[i, j], updated by `how`; `breaks` as in run_offsets.
template <class T>
void write_tile(update<T> const& how, T* c, T const* tile, int tile_step, std::int64_t const* row_at, int height,
                std::int64_t const* column_at, int width, std::uint64_t breaks) {
  bool const overwrites = how.overwrites();
  bool const in_runs = breaks == 0 || 4 * (std::popcount(breaks) + 1) <= width;
  if (in_runs) {
    for (int j = 0, end = 0; j < width; j = end) {
      end = breaks == 0 ? width : std::countr_zero(breaks);
      breaks &= breaks - 1;
      for (int i = 0; i < height; ++i) {
        T* const to = c + row_at[i] + column_at[j];
        T const* const from = tile + i * tile_step + j;
        if (overwrites)
          copy_run(to, from, end - j);
        else
          how.write(to, 1, from, end - j);
      }
    }
    return;
  }
  for (int i = 0; i < height; ++i) {
    T* const row = c + row_at[i];
    T const* const from = tile + i * tile_step;
    if (overwrites)
      for (int j = 0; j < width; ++j) row[column_at[j]] = from[j];
    else
      for (int j = 0; j < width; ++j) row[column_at[j]] = how(row[column_at[j]], from[j]);
  }
}

}  // namespace ostraka::engine::detail
