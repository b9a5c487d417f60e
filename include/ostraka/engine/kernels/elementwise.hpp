// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. C[I, J] = f(A[I, J], B[J], …) on one device, in loops over all operands, with long runs innermost.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/loops/map_tiling.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>

namespace ostraka::engine {

namespace detail {

/// Computes one element per call.
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

/// True if loops over F are also compiled for wide vectors, which makes three versions. Programs have many functions of
/// their own, so these are compiled once unless the program sets this.
template <class F>
inline constexpr bool is_worth_width = false;

/// True if a call of F throws nothing, so that GCC may vectorise its loop. Code compiled for wide vectors throws
/// nothing.
template <class F, class... Ts>
inline constexpr bool throws_nothing = is_worth_width<F> || std::is_nothrow_invocable_v<F const&, Ts const&...>;

/// The form of a function that a loop calls. A small function is copied into the loop, so that the loop's writes cannot
/// change its members, which then need not be read again for each element.
template <class F>
using kept = std::conditional_t<std::is_trivially_copyable_v<F> && sizeof(F) <= 64, F, F const&>;

/// One item: some tiles. A function may compute neighbours its own way, `f.of_neighbours(count, to, from…)`.
template <class R, class F, class... Ts>
struct map_tiles {
  static constexpr int operands = static_cast<int>(sizeof...(Ts)) + 1;

  map_tiling<R, operands> tiles;
  F f;

  void operator()(std::int64_t item) const {
    loop_walker<operands> walker(tiles.loops, tiles.cut.begin(item));
    for (std::int64_t t = tiles.cut.begin(item); t < tiles.cut.end(item); ++t, walker.next()) {
      auto const tile = tiles.tile_at(walker);
      map_tile(tile.at, tile.length, tile.rows, std::make_index_sequence<sizeof...(Ts)>{});
    }
  }

  template <std::size_t... Is>
  void map_tile(std::int64_t const (&at)[operands], std::int64_t length, std::int64_t rows,
                std::index_sequence<Is...>) const {
    auto const& step = tiles.step;
    map_rows(
        length, rows, tiles.result + at[0],
        rows_at(static_cast<Ts const*>(tiles.in[Is]) + at[Is + 1], step[0][Is + 1], step[1][Is + 1], length, rows)...);
  }

  void map_rows(std::int64_t length, std::int64_t rows, R* to, tile_rows<Ts>&&... from) const {
    if constexpr (is_worth_width<F>)
      with_wide_vectors([&] { write_rows(length, rows, to, from...); });
    else
      write_rows(length, rows, to, from...);
  }

  void write_rows(std::int64_t length, std::int64_t rows, R* to, tile_rows<Ts>&... from) const {
    if constexpr (is_worth_width<F> && sizeof...(Ts) == 2)
      if (tiles.step[0][0] == 1 && (int(from.repeats) + ...) == 1) return write_rows_of_one(length, rows, to, from...);
    for (std::int64_t row = 0; row < rows; ++row)
      map_row(length, to + row * tiles.step[1][0], from..., from.row(row, length)...);
  }

  /// For two operands, one of which has a single value in each row, as in an outer product: the value stays in a
  /// register.
  template <class A, class B>
  void write_rows_of_one(std::int64_t length, std::int64_t rows, R* to, tile_rows<A> const& a,
                         tile_rows<B> const& b) const {
    kept<F> const g = f;
    for (std::int64_t row = 0; row < rows; ++row) {
      R* const at = to + row * tiles.step[1][0];
      A const *const x = a.first + row * a.step, one_of_a = *x;
      B const *const y = b.first + row * b.step, one_of_b = *y;
      if (a.repeats) {
        for_each_independent(length, [=, &g](std::int64_t j) { at[j] = static_cast<R>(g(one_of_a, y[j])); });
      } else {
        for_each_independent(length, [=, &g](std::int64_t j) { at[j] = static_cast<R>(g(x[j], one_of_b)); });
      }
    }
  }

  void map_row(std::int64_t length, R* to, tile_rows<Ts> const&... rows, Ts const*... from) const {
    constexpr std::int64_t piece = 512;
    for (; length > 0; length -= piece, to += piece * tiles.step[0][0], ((from = rows.after(from, piece)), ...))
      map_piece(length < piece ? length : piece, to, from...);
  }

  void map_piece(std::int64_t count, R* to, Ts const*... from) const {
    std::int64_t const step = tiles.step[0][0];
    if constexpr (requires { f.of_neighbours(count, to, from...); })
      if (step == 1) return f.of_neighbours(count, to, from...);
    kept<F> const g = f;
    if (step == 1) {
      if constexpr (throws_nothing<F, Ts...>)
        for_each_independent(count, [&g, to, from...](std::int64_t j) { to[j] = static_cast<R>(g(from[j]...)); });
      else
        for (std::int64_t j = 0; j < count; ++j) to[j] = static_cast<R>(g(from[j]...));
    } else {
      for (std::int64_t j = 0; j < count; ++j) to[j * step] = static_cast<R>(g(from[j]...));
    }
  }
};

}  // namespace detail

/// Calls f on the aligned elements, in any order. `loops`: over the result (number 0) and the operands; stride 0
/// repeats. The result may be one of the operands if both have the same strides. A kernel keeps a function by its
/// address.
template <class Exec, class R, class F, class... Ts>
void map_elements(Exec const& exec, loop_nest<static_cast<int>(sizeof...(Ts)) + 1> const& loops, F const& f, R* result,
                  Ts const*... in) {
  std::int64_t const elements = loops.size();
  if (elements == 0) return;
  if constexpr (runs_on_host<Exec>) {
    void const* const from[] = {in...};
    detail::map_tiles<R, std::decay_t<F>, Ts...> const kernel{detail::tiling_of(loops, elements, result, from), f};
    for_each_item("ostraka map", exec, kernel.tiles.cut.items(), elements, kernel);
  } else {
    auto ordered = loops.copied();
    ordered.order_by(0);
    ordered.merge();
    for_each_item("ostraka map", exec, elements, elements,
                  detail::map_each<R, std::decay_t<F>, Ts...>{result, {in...}, ordered, f});
  }
}

}  // namespace ostraka::engine
