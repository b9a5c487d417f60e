// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. C[I, J] = f(A[I, J], B[J], …) on one device: loops that all operands walk together, long runs innermost.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <ostraka/engine/local/item_cut.hpp>
#include <ostraka/engine/local/loop_nest.hpp>
#include <ostraka/engine/local/parallel.hpp>
#include <ostraka/engine/local/stream.hpp>
#include <ostraka/engine/local/turn.hpp>
#include <ostraka/engine/local/wide.hpp>

namespace ostraka::engine {

namespace detail {

/// One element a call.
template <class R, class F, class... Ts>
struct map_each {
  static constexpr int operands = static_cast<int>(sizeof...(Ts)) + 1;  // the result is number 0

  R* result;
  void const* in[sizeof...(Ts)];
  loop_nest<operands> loops;
  F f;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { apply(i, std::make_index_sequence<sizeof...(Ts)>{}); }

  template <std::size_t... Is>
  KOKKOS_INLINE_FUNCTION void apply(std::int64_t i, std::index_sequence<Is...>) const {
    std::int64_t at[operands];
    loops.locate(i, at);
    result[at[0]] = static_cast<R>(f(static_cast<Ts const*>(in[Is])[at[Is + 1]]...));
  }
};

/// Whether loops over F are compiled for wide vectors, too: three times. Not what users write, of which there are many, unless they say so.
template <class F>
inline constexpr bool is_worth_width = false;

/// An operand's rows in a tile, put side by side where they are not: f is then applied to runs of neighbours, whatever the layout.
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
    if (along == 0 || along == 1) return;
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

/// Asks for the rows of a tile that are read where they lie, before another operand's tile is turned: they begin at many places, and by the time that all
/// have been begun the first have arrived.
template <class T>
void fetch_rows(T const* from, std::int64_t along, std::int64_t row_step, std::int64_t length, std::int64_t count) {
  if (along != 1 || row_step == 0) return;
  for (std::int64_t row = 0; row < count; ++row)
    for (std::int64_t j = 0; j < length; j += elements_of_line<T>) fetch_line(from + row * row_step + j);
}

template <class T>
tile_rows<T> rows_at(T const* from, std::int64_t along, std::int64_t row_step, std::int64_t length, std::int64_t count) {
  return tile_rows<T>(from, along, row_step, length, count);  // what nvcc understands in a pack expansion
}

/// Tiles of the result's innermost loop and of another, which is the innermost one of an operand that is walked across: its cache lines are used whole.
template <class R, class F, class... Ts>
struct map_tiles {
  static constexpr int operands = static_cast<int>(sizeof...(Ts)) + 1;
  static constexpr std::int64_t tiles_of_group = 8;

  R* result;
  void const* in[sizeof...(Ts)];
  loop_nest<operands> tiles;  // over the other loops, and over the tiles
  int tile_loop[2] = {-1, -1};  // which of them those are; -1 where there is one tile
  std::int64_t side[2] = {1, 1};
  std::int64_t extent[2] = {1, 1};  // of a run, and of the other loop
  std::int64_t step[2][operands] = {};
  item_cut cut;
  F f;
  bool turns = false;
  bool streams = false;
  int group_loop = -1;     // over groups of the other loop's tiles: what all tiles of a run touch meanwhile stays in the second cache
  std::int64_t shift = 0;  // by which all of a run's tiles but the first begin earlier, where a line of the result does

  void operator()(std::int64_t item) const {
    if constexpr (is_worth_width<F>)
      with_wide_vectors([&] { map_item(item); });
    else
      map_item(item);
  }

  void map_item(std::int64_t item) const {
    loop_walker<operands> walker(tiles, cut.begin(item));
    streamed_writer<R> writer;
    if (turns && streams) writer.ends_stream();
    for (std::int64_t tile = cut.begin(item); tile < cut.end(item); ++tile, walker.next()) {
      std::int64_t const first = index_of(walker, tile_loop[0]) * side[0], early = first == 0 ? 0 : shift;
      std::int64_t at[operands];
      for (int o = 0; o < operands; ++o) at[o] = walker.offset[o] - early * step[0][o];
      std::int64_t const length = std::min(side[0] - (shift - early), extent[0] - (first - early));
      std::int64_t const row = (index_of(walker, group_loop) * tiles_of_group + index_of(walker, tile_loop[1])) * side[1];
      std::int64_t const rows = std::min(side[1], extent[1] - row);
      if (rows > 0) map_tile(writer, at, length, rows, std::make_index_sequence<sizeof...(Ts)>{});
    }
  }

  static std::int64_t index_of(loop_walker<operands> const& walker, int loop) { return loop < 0 ? 0 : walker.index[loop]; }

  template <std::size_t... Is>
  void map_tile(streamed_writer<R>& writer, std::int64_t const (&at)[operands], std::int64_t length, std::int64_t rows, std::index_sequence<Is...>) const {
    if (turns) (fetch_rows(static_cast<Ts const*>(in[Is]) + at[Is + 1], step[0][Is + 1], step[1][Is + 1], length, rows), ...);
    map_rows(writer, length, rows, result + at[0],
             rows_at(static_cast<Ts const*>(in[Is]) + at[Is + 1], step[0][Is + 1], step[1][Is + 1], length, rows)...);
  }

  void map_rows(streamed_writer<R>& writer, std::int64_t length, std::int64_t rows, R* to, tile_rows<Ts>&&... from) const {
    if (turns && streams) {  // all rows are computed before one is written past the caches: nothing waits in between
      tile_room<R, tile_rows<R>::elements> room;
      R* const computed = room.data();
      std::int64_t const pitch = (length + 15) / 16 * 16;
      for (std::int64_t row = 0; row < rows; ++row) map_piece(length, computed + row * pitch, from.row(row, length)...);
      for (std::int64_t row = 0; row < rows; ++row) stream_run(to + row * step[1][0], computed + row * pitch, length);
      return;
    }
    for (std::int64_t row = 0; row < rows; ++row) map_row(writer, length, to + row * step[1][0], from..., from.row(row, length)...);
  }

  void map_row(streamed_writer<R>& writer, std::int64_t length, R* to, tile_rows<Ts> const&... rows, Ts const*... from) const {
    constexpr std::int64_t piece = streamed_writer<R>::longest;
    for (; length > 0; length -= piece, to += piece * step[0][0], ((from = rows.after(from, piece)), ...)) {
      std::int64_t const count = length < piece ? length : piece;
      map_piece(count, streams ? writer.room_for(to, count) : to, from...);
    }
  }

  void map_piece(std::int64_t count, R* to, Ts const*... from) const {
    if (step[0][0] == 1)
      for (std::int64_t j = 0; j < count; ++j) to[j] = static_cast<R>(f(from[j]...));
    else
      for (std::int64_t j = 0; j < count; ++j) to[j * step[0][0]] = static_cast<R>(f(from[j]...));
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
void add_tiles(loop_nest<Operands>& tiles, int& loop, std::int64_t count, std::int64_t side, std::int64_t const (&step)[Operands]) {
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

/// @pre the loops are in the order of the result
template <class R, class F, class... Ts>
map_tiles<R, F, Ts...> arrange_map(loop_nest<static_cast<int>(sizeof...(Ts)) + 1> const& loops, F const& f, R* result, Ts const*... in) {
  constexpr int operands = static_cast<int>(sizeof...(Ts)) + 1;
  map_tiles<R, F, Ts...> kernel{result, {in...}, loops, {-1, -1}, {1, 1}, {1, 1}, {}, {}, f};
  int const inner = loops.rank - 1, across = loop_across(loops);
  int const of_tile[2] = {inner, across < 0 && inner > 0 && loops.extent[inner] < tile_rows<R>::piece ? inner - 1 : across};
  bool side_by_side = true;
  if (of_tile[0] >= 0) {
    kernel.turns = across >= 0;
    kernel.tiles = loops.without(of_tile[0]);
    if (of_tile[1] >= 0) kernel.tiles = kernel.tiles.without(of_tile[1]);
    for (int o = 1; o < operands; ++o) side_by_side = side_by_side && (loops.stride[o][of_tile[0]] | 1) == 1;
    kernel.streams = loops.stride[0][inner] == 1 && (across < 0 || loops.extent[inner] >= 4 * elements_of_line<R>) && worth_streaming<R>(loops.size()) &&
                     ((static_cast<void const*>(result) != in) && ...);
  }
  constexpr std::int64_t two_lines = std::clamp<std::int64_t>(2 * elements_of_line<R>, 16, 32);
  std::int64_t const longest[2] = {side_by_side ? 4096 : of_tile[1] < 0 ? 1024 : 64, across < 0 ? 16 : two_lines};
  for (int t = 0; t < 2; ++t) {
    if (of_tile[t] < 0) continue;
    kernel.extent[t] = loops.extent[of_tile[t]];
    kernel.side[t] = std::min(longest[t], kernel.extent[t]);
    for (int o = 0; o < operands; ++o) kernel.step[t][o] = loops.stride[o][of_tile[t]];
  }
  if (kernel.streams && kernel.extent[0] > kernel.side[0]) kernel.shift = begins_in_line(result, loops) % kernel.side[0];
  std::int64_t const along = (kernel.extent[0] + kernel.shift + kernel.side[0] - 1) / kernel.side[0];
  std::int64_t across_run = (kernel.extent[1] + kernel.side[1] - 1) / kernel.side[1];
  if (along > 1 && across_run > kernel.tiles_of_group) {
    std::int64_t const groups = (across_run + kernel.tiles_of_group - 1) / kernel.tiles_of_group;
    add_tiles(kernel.tiles, kernel.group_loop, groups, kernel.tiles_of_group * kernel.side[1], kernel.step[1]);
    across_run = kernel.tiles_of_group;
  }
  add_tiles(kernel.tiles, kernel.tile_loop[0], along, kernel.side[0], kernel.step[0]);
  add_tiles(kernel.tiles, kernel.tile_loop[1], across_run, kernel.side[1], kernel.step[1]);
  kernel.cut = item_cut::of_units(kernel.tiles.size(), kernel.side[0] * kernel.side[1]);
  return kernel;
}

}  // namespace detail

/// Calls f on the elements that meet, in any order. `loops`: over the result (number 0) and the operands; stride 0 repeats.
/// The result may be one of the operands if it is walked alike.
template <class Exec, class R, class F, class... Ts>
void map_elements(Exec const& exec, loop_nest<static_cast<int>(sizeof...(Ts)) + 1> loops, F const& f, R* result, Ts const*... in) {
  std::int64_t const elements = loops.size();
  if (elements == 0) return;
  loops.order_by(0);
  loops.merge();
  if constexpr (runs_on_host<Exec>) {
    auto const kernel = detail::arrange_map(loops, f, result, in...);
    for_each_item("ostraka map", exec, kernel.cut.items(), elements, kernel);
  } else {
    for_each_item("ostraka map", exec, elements, elements, detail::map_each<R, F, Ts...>{result, {in...}, loops, f});
  }
}

}  // namespace ostraka::engine
