// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. C[I, J] = f(A[I, J], B[J], …) on one device: loops that all operands walk together, long runs innermost.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/kernels/loop_nest.hpp>
#include <ostraka/engine/kernels/parallel.hpp>
#include <ostraka/engine/kernels/portable/map_tiling.hpp>
#include <ostraka/engine/kernels/x86/map_tiles.hpp>
#include <ostraka/engine/kernels/x86/stream.hpp>
#include <ostraka/engine/kernels/x86/wide.hpp>

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

/// Whether loops over F are compiled for wide vectors, too: three times. Not what users write, of which there are many,
/// unless they say so. If F takes two operands, it commutes.
template <class F>
inline constexpr bool is_worth_width = false;

/// Whether operands that lie transposed to the result are met square by square in registers (map_tiles.hpp), compiled
/// three times, too.
template <class F>
inline constexpr bool is_worth_squares = is_worth_width<F>;

/// One item: some tiles.
template <class R, class F, class... Ts>
struct map_tiles {
  static constexpr int operands = static_cast<int>(sizeof...(Ts)) + 1;
  static constexpr bool by_squares =
      is_worth_squares<F> && (std::is_same_v<R, float> || std::is_same_v<R, double>) && (std::is_same_v<Ts, R> && ...);

  map_tiling<R, operands> tiles;
  F f;

  void operator()(std::int64_t item) const {
    loop_walker<operands> walker(tiles.loops, tiles.cut.begin(item));
    streamed_writer<R> writer;
    if (tiles.turns && tiles.streams) writer.ends_stream();
    for (std::int64_t t = tiles.cut.begin(item); t < tiles.cut.end(item); ++t, walker.next()) {
      auto const tile = tiles.tile_at(walker);
      if (tile.rows <= 0) continue;
      if constexpr (by_squares)
        if (tiles.squares) {
          map_by_squares(writer, tile.at, tile.length, tile.rows);
          continue;
        }
      map_tile(writer, tile.at, tile.length, tile.rows, std::make_index_sequence<sizeof...(Ts)>{});
    }
  }

  /// As much of a tile as squares fill, then what is left beside them and below.
  void map_by_squares(streamed_writer<R>& writer, std::int64_t const (&at)[operands], std::int64_t length,
                      std::int64_t rows) const {
    auto const& step = tiles.step;
    square_operands<R, operands - 1> in;
    for (int o = 1; o < operands; ++o)
      in.set(o - 1, static_cast<R const*>(tiles.in[o - 1]) + at[o], step[0][o], step[1][o]);
    part_of_tile const done = map_squares(f, in, tiles.result + at[0], step[1][0], tiles.streams, rows, length);
    map_in_pieces(writer, at, done.length, length, 0, done.rows);
    map_in_pieces(writer, at, 0, length, done.rows, rows);
  }

  /// Rows [top, bottom) and columns [left, right) of a large tile by smaller ones.
  void map_in_pieces(streamed_writer<R>& writer, std::int64_t const (&at)[operands], std::int64_t left,
                     std::int64_t right, std::int64_t top, std::int64_t bottom) const {
    constexpr std::int64_t length = 64;
    for (std::int64_t i = left; i < right; i += length) {
      std::int64_t const columns = std::min(length, right - i),
                         rows = tile_rows<R>::elements / ((columns + 15) / 16 * 16);
      for (std::int64_t row = top; row < bottom; row += rows) {
        std::int64_t here[operands];
        for (int o = 0; o < operands; ++o) here[o] = at[o] + i * tiles.step[0][o] + row * tiles.step[1][o];
        map_tile(writer, here, columns, std::min(rows, bottom - row), std::make_index_sequence<sizeof...(Ts)>{});
      }
    }
  }

  template <std::size_t... Is>
  void map_tile(streamed_writer<R>& writer, std::int64_t const (&at)[operands], std::int64_t length, std::int64_t rows,
                std::index_sequence<Is...>) const {
    auto const& step = tiles.step;
    if (tiles.turns)
      (fetch_rows(static_cast<Ts const*>(tiles.in[Is]) + at[Is + 1], step[0][Is + 1], step[1][Is + 1], length, rows),
       ...);
    map_rows(
        writer, length, rows, tiles.result + at[0],
        rows_at(static_cast<Ts const*>(tiles.in[Is]) + at[Is + 1], step[0][Is + 1], step[1][Is + 1], length, rows)...);
  }

  void map_rows(streamed_writer<R>& writer, std::int64_t length, std::int64_t rows, R* to,
                tile_rows<Ts>&&... from) const {
    if constexpr (is_worth_width<F>)
      with_wide_vectors([&] { write_rows(writer, length, rows, to, from...); });
    else
      write_rows(writer, length, rows, to, from...);
  }

  void write_rows(streamed_writer<R>& writer, std::int64_t length, std::int64_t rows, R* to,
                  tile_rows<Ts>&... from) const {
    std::int64_t const next = tiles.step[1][0];
    if (tiles.turns &&
        tiles.streams) {  // all rows are computed before one is written past the caches: nothing waits in between
      tile_room<R, tile_rows<R>::elements> room;
      R* const computed = room.data();
      std::int64_t const pitch = (length + 15) / 16 * 16;
      for (std::int64_t row = 0; row < rows; ++row) map_piece(length, computed + row * pitch, from.row(row, length)...);
      for (std::int64_t row = 0; row < rows; ++row) stream_run(to + row * next, computed + row * pitch, length);
      return;
    }
    if constexpr (is_worth_width<F> && sizeof...(Ts) == 2)
      if ((tiles.ahead > 0 || tiles.streams) && (int{from.repeats} + ...) == 1)
        return write_scaled_rows(writer, length, rows, to, from...);
    for (std::int64_t row = 0; row < rows; ++row)
      map_row(writer, length, to + row * next, from..., from.row(row, length)...);
  }

  /// Rows of a large outer product, C[i, j] = A[i] B[j], in whichever order f, which commutes, takes them.
  template <class T>
  void write_scaled_rows(streamed_writer<R>& writer, std::int64_t length, std::int64_t rows, R* to, tile_rows<T>& one,
                         tile_rows<T>& other) const {
    constexpr std::int64_t longest = streamed_writer<R>::longest;
    tile_rows<T>& scale = one.repeats ? one : other;
    tile_rows<T>& scaled = one.repeats ? other : one;
    for (std::int64_t row = 0; row < rows; ++row, to += tiles.step[1][0]) {
      T const* const from = scaled.row(row, length);
      T const by = scale.first[row * scale.step];
      if (!tiles.streams) {
        write_scaled(length, to, from, by);
        continue;
      }
      for (std::int64_t j = 0; j < length; j += longest) {
        std::int64_t const count = std::min(longest, length - j);
        scale_piece(count, writer.room_for(to + j, count), from + j, by);
      }
    }
  }

  template <class T>
  void write_scaled(std::int64_t length, R* __restrict to, T const* __restrict from, T const& by) const {
    constexpr std::int64_t lanes = 16, line = elements_of_line<R>;
    T const factor = by;
    std::int64_t j = 0;
    for (; j + lanes <= length; j += lanes) {
      for (std::int64_t l = 0; l < lanes; l += line) fetch_line(to + tiles.ahead + j + l);
      for (std::int64_t l = 0; l < lanes; ++l) to[j + l] = static_cast<R>(f(factor, from[j + l]));
    }
    scale_piece(length - j, to + j, from + j, factor);
  }

  template <class T>
  void scale_piece(std::int64_t count, R* __restrict to, T const* __restrict from, T const by) const {
    for (std::int64_t j = 0; j < count; ++j) to[j] = static_cast<R>(f(by, from[j]));
  }

  void map_row(streamed_writer<R>& writer, std::int64_t length, R* to, tile_rows<Ts> const&... rows,
               Ts const*... from) const {
    constexpr std::int64_t piece = streamed_writer<R>::longest;
    for (; length > 0; length -= piece, to += piece * tiles.step[0][0], ((from = rows.after(from, piece)), ...)) {
      std::int64_t const count = length < piece ? length : piece;
      if (tiles.ahead > 0) fetch_run(to + tiles.ahead, count * static_cast<std::int64_t>(sizeof(R)));
      map_piece(count, tiles.streams ? writer.room_for(to, count) : to, from...);
    }
  }

  void map_piece(std::int64_t count, R* to, Ts const*... from) const {
    std::int64_t const step = tiles.step[0][0];
    if (step == 1)
      for (std::int64_t j = 0; j < count; ++j) to[j] = static_cast<R>(f(from[j]...));
    else
      for (std::int64_t j = 0; j < count; ++j) to[j * step] = static_cast<R>(f(from[j]...));
  }
};

}  // namespace detail

/// Calls f on the elements that meet, in any order. `loops`: over the result (number 0) and the operands; stride 0
/// repeats. The result may be one of the operands if it is walked alike.
template <class Exec, class R, class F, class... Ts>
void map_elements(Exec const& exec, loop_nest<static_cast<int>(sizeof...(Ts)) + 1> loops, F const& f, R* result,
                  Ts const*... in) {
  std::int64_t const elements = loops.size();
  if (elements == 0) return;
  if constexpr (runs_on_host<Exec>) {
    void const* const from[] = {in...};
    detail::map_tiles<R, F, Ts...> const kernel{
        detail::tiling_of(loops, result, from, detail::map_tiles<R, F, Ts...>::by_squares), f};
    for_each_item("ostraka map", exec, kernel.tiles.cut.items(), elements, kernel);
  } else {
    loops.order_by(0);
    loops.merge();
    for_each_item("ostraka map", exec, elements, elements, detail::map_each<R, F, Ts...>{result, {in...}, loops, f});
  }
}

}  // namespace ostraka::engine
