// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Cuts loops over a result and operands with different layouts into tiles. It does not depend on the
/// function, so it is compiled once for each number of operands.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/item_cut.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/portable/transpose_matrix.hpp>

namespace ostraka::engine::detail {

/// An operand's rows in a tile, made contiguous if they are not, so that f is applied to runs of neighbours for any
/// layout.
template <class T>
struct tile_rows {
  static constexpr std::int64_t elements = 8192;  // of a tile: long runs of all operands that fit a second cache
  static constexpr std::int64_t piece = 512;  // computed at a time, and copies of a repeated value

  T const* first;
  std::int64_t step;
  bool repeats;
  tile_buffer<T, elements> buffer;

  tile_rows(T const* from, std::int64_t along, std::int64_t row_step, std::int64_t length, std::int64_t count)
      : first(from), step(row_step), repeats(along == 0) {
    if (along != 0 && along != 1) make_contiguous(from, along, row_step, length, count);
  }

  /// Not inlined, since it is the same for all functions.
  [[gnu::noinline]] void make_contiguous(T const* from, std::int64_t along, std::int64_t row_step, std::int64_t length,
                                         std::int64_t count) {
    T* const element = buffer.data();
    std::int64_t const pitch = (length + 15) / 16 * 16;  // rows begin at the starts of vectors
    if (row_step == 1) {
      transpose(element, pitch, from, along, length, count, count);
    } else {
      for (std::int64_t row = 0; row < count; ++row)
        for (std::int64_t j = 0; j < length; ++j) element[row * pitch + j] = from[row * row_step + j * along];
    }
    first = element;
    step = pitch;
  }

  /// Returns the first piece of a row.
  T const* row(std::int64_t r, std::int64_t length) {
    T const* const here = first + r * step;
    if (!repeats) return here;
    T* const element = buffer.data();
    if (r > 0 && step == 0) return element;
    T const repeated = *here;
    std::int64_t const count = length < piece ? length : piece;
    for_each_independent(count, [=](std::int64_t j) { element[j] = repeated; });
    return element;
  }

  T const* after(T const* at, std::int64_t count) const { return repeats ? at : at + count; }
};

template <class T>
tile_rows<T> rows_at(T const* from, std::int64_t along, std::int64_t row_step, std::int64_t length,
                     std::int64_t count) {
  return tile_rows<T>(from, along, row_step, length, count);  // a form that nvcc accepts in a pack expansion
}

/// Tiles over the result's innermost loop and over the innermost loop of an operand with another order, so that the
/// cache lines of both are used whole. The type is the same for all functions with this number of operands; the result
/// is number 0.
template <class R, int Operands>
struct map_tiling {
  R* result;
  void const* in[Operands - 1];
  loop_nest<Operands> loops;    // over the other loops, and over the tiles
  int tile_loop[2] = {-1, -1};  // the tile loops among them; -1 if there is one tile
  std::int64_t side[2] = {1, 1};
  std::int64_t extent[2] = {1, 1};  // of a run, and of the other loop
  std::int64_t step[2][Operands] = {};
  item_cut cut{};

  explicit map_tiling(R* target) : result(target) {}

  /// A tile: its first element in each operand, its length along a run, and its rows.
  struct tile {
    std::int64_t at[Operands];
    std::int64_t length;
    std::int64_t rows;
  };

  tile tile_at(loop_walker<Operands> const& walker) const {
    tile t;
    for (int o = 0; o < Operands; ++o) t.at[o] = walker.offset[o];
    t.length = std::min(side[0], extent[0] - index_of(walker, tile_loop[0]) * side[0]);
    t.rows = std::min(side[1], extent[1] - index_of(walker, tile_loop[1]) * side[1]);
    return t;
  }

  static std::int64_t index_of(loop_walker<Operands> const& walker, int loop) {
    return loop < 0 ? 0 : walker.index[loop];
  }
};

/// Returns the innermost loop of an operand whose innermost loop is not that of the result; -1 if there is none.
template <int Operands>
int loop_across(loop_nest<Operands> const& loops) {
  int const inner = loops.rank - 1;
  for (int o = 1; o < Operands; ++o)
    for (int d = 0; d < inner; ++d)
      if (loops.stride[o][d] != 0 && loops.stride[o][d] < loops.stride[o][inner]) return smallest_step(loops, o);
  return -1;
}

/// Adds the loop over the tiles of a loop, unless there is a single tile.
template <int Operands>
void add_tiles(loop_nest<Operands>& tiles, int& loop, std::int64_t count, std::int64_t side,
               std::int64_t const (&step)[Operands]) {
  if (count == 1) return;
  loop = tiles.rank++;
  tiles.extent[loop] = count;
  for (int o = 0; o < Operands; ++o) tiles.stride[o][loop] = side * step[o];
}

/// True if all operands are dense in the order of the loops, and so are one run.
template <int Operands>
bool is_one_run(loop_nest<Operands> const& loops) {
  std::int64_t step = 1;
  for (int d = loops.rank - 1; d >= 0; --d) {
    for (int o = 0; o < Operands; ++o)
      if (loops.stride[o][d] != step) return false;
    step *= loops.extent[d];
  }
  return loops.rank > 0;
}

/// Returns the loops in the order of the result, cut into tiles. `elements`: the number of iterations.
template <class R, int Operands>
map_tiling<R, Operands> tiling_of(loop_nest<Operands> const& of_all, std::int64_t elements, R* result,
                                  void const* const (&in)[Operands - 1]) {
  map_tiling<R, Operands> t(result);
  constexpr std::int64_t longest_run = 4096;
  if (elements <= longest_run && is_one_run(of_all)) {  // the same as below, without ordering or cutting
    t.extent[0] = t.side[0] = elements;
    for (int o = 0; o < Operands; ++o) t.step[0][o] = 1;
    for (int o = 1; o < Operands; ++o) t.in[o - 1] = in[o - 1];
    t.cut = {1, 1, 1, 1};
    return t;
  }
  t.loops = of_all.copied();
  loop_nest<Operands>& loops = t.loops;
  loops.order_by(0);
  loops.merge();
  int const inner = loops.rank - 1, across = loop_across(loops);
  int const of_tile[2] = {inner,
                          across < 0 && inner > 0 && loops.extent[inner] < tile_rows<R>::piece ? inner - 1 : across};
  bool side_by_side = true;
  for (int o = 1; o < Operands; ++o) {
    t.in[o - 1] = in[o - 1];
    side_by_side = side_by_side && inner >= 0 && (loops.stride[o][inner] | 1) == 1;
  }
  std::int64_t const longest[2] = {side_by_side ? longest_run : of_tile[1] < 0 ? 1024 : 256, 32};
  for (int i = 0; i < 2; ++i) {
    if (of_tile[i] < 0) continue;
    t.extent[i] = loops.extent[of_tile[i]];
    t.side[i] = std::min(longest[i], t.extent[i]);
    for (int o = 0; o < Operands; ++o) t.step[i][o] = loops.stride[o][of_tile[i]];
  }
  for (int const d : of_tile)
    if (d >= 0) loops.remove(d);
  for (int i = 0; i < 2; ++i)
    add_tiles(loops, t.tile_loop[i], (t.extent[i] + t.side[i] - 1) / t.side[i], t.side[i], t.step[i]);
  t.cut = item_cut::of_units(loops.size(), t.side[0] * t.side[1]);
  return t;
}

}  // namespace ostraka::engine::detail
