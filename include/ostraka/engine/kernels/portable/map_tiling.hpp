// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. How loops over a result and operands that may lie differently are cut into tiles, whatever function is
/// computed: compiled once for each number of operands.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <ostraka/engine/kernels/item_cut.hpp>
#include <ostraka/engine/kernels/loop_nest.hpp>
#include <ostraka/engine/kernels/portable/transpose.hpp>
#include <ostraka/engine/kernels/x86/map_tiles.hpp>
#include <ostraka/engine/kernels/x86/stream.hpp>

namespace ostraka::engine::detail {

/// An operand's rows in a tile, put side by side where they are not: f is then applied to runs of neighbours, whatever
/// the layout.
template <class T>
struct tile_rows {
  static constexpr std::int64_t elements = 2048;
  static constexpr std::int64_t piece = 512;  // that is computed at a time: as much of a repeated value is enough

  T const* first;
  std::int64_t step;
  bool repeats;
  tile_room<T, elements> room;

  tile_rows(T const* from, std::int64_t along, std::int64_t row_step, std::int64_t length, std::int64_t count)
      : first(from), step(row_step), repeats(along == 0) {
    if (along != 0 && along != 1) bring_together(from, along, row_step, length, count);
  }

  /// Not inlined: the same for all functions.
  [[gnu::noinline]] void bring_together(T const* from, std::int64_t along, std::int64_t row_step, std::int64_t length,
                                        std::int64_t count) {
    T* const element = room.data();
    std::int64_t const pitch = (length + 15) / 16 * 16;  // rows begin where vectors do
    if (row_step == 1) {
      turn(element, pitch, from, along, length, count);
    } else {
      for (std::int64_t row = 0; row < count; ++row)
        for (std::int64_t j = 0; j < length; ++j) element[row * pitch + j] = from[row * row_step + j * along];
    }
    first = element;
    step = pitch;
  }

  /// The row's first piece.
  T const* row(std::int64_t r, std::int64_t length) {
    T const* const here = first + r * step;
    if (!repeats) return here;
    T* const element = room.data();
    if (r > 0 && step == 0) return element;
    T const repeated = *here;
    std::int64_t const count = length < piece ? length : piece;
    for (std::int64_t j = 0; j < count; ++j) element[j] = repeated;
    return element;
  }

  T const* after(T const* at, std::int64_t count) const { return repeats ? at : at + count; }
};

/// Asks for the rows of a tile that are read where they lie, before another operand's tile is turned: they begin at
/// many places, and by the time that all have been begun the first have arrived.
template <class T>
void fetch_rows(T const* from, std::int64_t along, std::int64_t row_step, std::int64_t length, std::int64_t count) {
  if (along != 1 || row_step == 0) return;
  for (std::int64_t row = 0; row < count; ++row)
    for (std::int64_t j = 0; j < length; j += elements_of_line<T>) fetch_line(from + row * row_step + j);
}

template <class T>
tile_rows<T> rows_at(T const* from, std::int64_t along, std::int64_t row_step, std::int64_t length,
                     std::int64_t count) {
  return tile_rows<T>(from, along, row_step, length, count);  // what nvcc understands in a pack expansion
}

/// Tiles of the result's innermost loop and of another, which is the innermost one of an operand that is walked across:
/// its cache lines are used whole. The same for all functions of so many operands, the result being number 0.
template <class R, int Operands>
struct map_tiling {
  static constexpr std::int64_t tiles_of_group = 8;

  R* result;
  void const* in[Operands - 1];
  loop_nest<Operands> loops;    // over the other loops, and over the tiles
  int tile_loop[2] = {-1, -1};  // which of them those are; -1 where there is one tile
  std::int64_t side[2] = {1, 1};
  std::int64_t extent[2] = {1, 1};  // of a run, and of the other loop
  std::int64_t step[2][Operands] = {};
  item_cut cut{};
  bool turns = false;
  bool streams = false;
  bool squares = false;    // met square by square; the tiles are large then, and those along a run are neighbours
  std::int64_t ahead =
      0;  // where the result's lines are asked for while others are written, in elements; 0 where they are not
  int group_loop =
      -1;  // over groups of the other loop's tiles: what all tiles of a run touch meanwhile stays in the second cache
  std::int64_t shift = 0;  // by which all of a run's tiles but the first begin earlier, where a line of the result does

  /// A tile: its first element in each operand, its length along a run, and its rows, of which the last group's last
  /// tiles may have none.
  struct tile {
    std::int64_t at[Operands];
    std::int64_t length;
    std::int64_t rows;
  };

  tile tile_at(loop_walker<Operands> const& walker) const {
    tile t;
    std::int64_t const first = index_of(walker, tile_loop[0]) * side[0], early = first == 0 ? 0 : shift;
    for (int o = 0; o < Operands; ++o) t.at[o] = walker.offset[o] - early * step[0][o];
    t.length = std::min(side[0] - (shift - early), extent[0] - (first - early));
    std::int64_t const row = (index_of(walker, group_loop) * tiles_of_group + index_of(walker, tile_loop[1])) * side[1];
    t.rows = std::min(side[1], extent[1] - row);
    return t;
  }

  static std::int64_t index_of(loop_walker<Operands> const& walker, int loop) {
    return loop < 0 ? 0 : walker.index[loop];
  }
};

/// The loop in which some operand moves in its smallest steps, although the result does not; -1 if there is none.
template <int Operands>
int loop_across(loop_nest<Operands> const& loops) {
  int const inner = loops.rank - 1;
  for (int o = 1; o < Operands; ++o)
    for (int d = 0; d < inner; ++d)
      if (loops.stride[o][d] != 0 && loops.stride[o][d] < loops.stride[o][inner]) return smallest_step(loops, o);
  return -1;
}

/// Adds the loop over the tiles of a loop; one tile is no loop.
template <int Operands>
void add_tiles(loop_nest<Operands>& tiles, int& loop, std::int64_t count, std::int64_t side,
               std::int64_t const (&step)[Operands]) {
  if (count == 1) return;
  loop = tiles.rank++;
  tiles.extent[loop] = count;
  for (int o = 0; o < Operands; ++o) tiles.stride[o][loop] = side * step[o];
}

/// Elements of its first line before the result begins, if the runs of its innermost loop all lie alike.
template <class R, int Operands>
std::int64_t begins_in_line(R const* result, loop_nest<Operands> const& loops) {
  constexpr std::int64_t line = elements_of_line<R>;
  for (int d = 0; d + 1 < loops.rank; ++d)
    if (loops.stride[0][d] % line != 0) return 0;
  return static_cast<std::int64_t>((64 - bytes_to_line(result)) % 64 / sizeof(R)) % line;
}

/// Elements that loops touch in the result and all operands.
template <int Operands>
std::int64_t elements_touched(loop_nest<Operands> const& loops) {
  std::int64_t all = 0;
  for (int o = 0; o < Operands; ++o) {
    std::int64_t of_one = 1;
    for (int d = 0; d < loops.rank; ++d)
      if (loops.stride[o][d] != 0) of_one *= loops.extent[d];
    all += of_one;
  }
  return all;
}

/// How far ahead of what is written lines of the result are asked for, if its runs are contiguous and it is larger than
/// a core's second cache: a page, and rather whole rows than what lies beyond the end of a short one.
template <class R, int Operands>
std::int64_t lines_ahead(loop_nest<Operands> const& loops) {
  constexpr std::int64_t page = 64 * elements_of_line<R>,
                         second_cache = (1 << 20) / static_cast<std::int64_t>(sizeof(R));
  int const inner = loops.rank - 1;
  if (inner < 0 || loops.stride[0][inner] != 1 || loops.size() < second_cache) return 0;
  if (inner == 0 || loops.extent[inner] >= page) return page;
  return (page / loops.extent[inner] + 1) * loops.stride[0][inner - 1];
}

/// Do the tiles fall into squares whose rows and columns are neighbours in every operand, and lines of the result if it
/// is streamed?
template <class R, int Operands>
bool meets_in_squares(map_tiling<R, Operands> const& t, int inner, int across) {
  if (!t.turns || !maps_squares(t.streams) || t.loops.stride[0][inner] != 1) return false;
  for (int d = 0; t.streams && d < inner; ++d)
    if (t.loops.stride[0][d] % elements_of_line<R> != 0) return false;
  for (int o = 1; o < Operands; ++o) {
    std::int64_t const along = t.loops.stride[o][inner], row_step = t.loops.stride[o][across];
    if (along != 1 && (along == 0 || row_step != 1)) return false;
  }
  return true;
}

/// The loops in the order of the result, cut into tiles; `squares`: they may be met square by square.
template <class R, int Operands>
map_tiling<R, Operands> tiling_of(loop_nest<Operands> const& of_all, R* result, void const* const (&in)[Operands - 1],
                                  bool squares = false) {
  map_tiling<R, Operands> t{result, {}, of_all};
  loop_nest<Operands>& loops = t.loops;
  loops.order_by(0);
  loops.merge();
  int const inner = loops.rank - 1, across = loop_across(loops);
  int const of_tile[2] = {inner,
                          across < 0 && inner > 0 && loops.extent[inner] < tile_rows<R>::piece ? inner - 1 : across};
  bool side_by_side = true, in_place = false;
  t.turns = inner >= 0 && across >= 0;
  bool const large = across < 0 ? larger_than_caches<R>(elements_touched(loops))
                                : worth_streaming<R>(loops.size()) && loops.extent[inner] >= 4 * elements_of_line<R>;
  t.streams = large && inner >= 0 && loops.stride[0][inner] == 1;
  for (int o = 1; o < Operands; ++o) {
    t.in[o - 1] = in[o - 1];
    side_by_side = side_by_side && inner >= 0 && (loops.stride[o][inner] | 1) == 1;
    in_place = in_place || in[o - 1] == result;
  }
  t.streams = t.streams && !in_place;
  if (!t.streams && !t.turns && !in_place) t.ahead = lines_ahead<R>(loops);
  t.squares = squares && meets_in_squares(t, inner, across);
  constexpr std::int64_t two_lines = std::clamp<std::int64_t>(2 * elements_of_line<R>, 16, 32);
  std::int64_t const of_rows[2] = {side_by_side ? 4096 : of_tile[1] < 0 ? 1024 : 64, across < 0 ? 16 : two_lines};
  auto const& longest = t.squares ? tile_of_squares : of_rows;
  for (int i = 0; i < 2; ++i) {
    if (of_tile[i] < 0) continue;
    t.extent[i] = loops.extent[of_tile[i]];
    t.side[i] = std::min(longest[i], t.extent[i]);
    for (int o = 0; o < Operands; ++o) t.step[i][o] = loops.stride[o][of_tile[i]];
  }
  if (t.streams && t.extent[0] > t.side[0]) t.shift = begins_in_line(result, loops) % t.side[0];
  for (int const d : of_tile)
    if (d >= 0) loops.remove(d);
  std::int64_t const along = (t.extent[0] + t.shift + t.side[0] - 1) / t.side[0];
  std::int64_t across_run = (t.extent[1] + t.side[1] - 1) / t.side[1];
  if (t.squares) add_tiles(loops, t.tile_loop[1], across_run, t.side[1], t.step[1]);
  if (!t.squares && along > 1 && across_run > t.tiles_of_group) {
    std::int64_t const groups = (across_run + t.tiles_of_group - 1) / t.tiles_of_group;
    add_tiles(loops, t.group_loop, groups, t.tiles_of_group * t.side[1], t.step[1]);
    across_run = t.tiles_of_group;
  }
  add_tiles(loops, t.tile_loop[0], along, t.side[0], t.step[0]);
  if (!t.squares) add_tiles(loops, t.tile_loop[1], across_run, t.side[1], t.step[1]);
  t.cut = item_cut::of_units(loops.size(), t.side[0] * t.side[1]);
  return t;
}

}  // namespace ostraka::engine::detail
