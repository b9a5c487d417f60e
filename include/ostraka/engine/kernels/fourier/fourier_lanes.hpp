// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Rows of a block read into a buffer in which they lie side by side (mixed_radix.hpp), and written from
/// there. Rows that are runs in memory are a matrix that is transposed, in tiles that registers hold; rows that are
/// side by side in memory, too, are copied as they lie.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/fourier/mixed_radix.hpp>
#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/kernels/portable/transpose_matrix.hpp>

namespace ostraka::engine::detail {

/// Numbers in memory: number k of lane l is x[at[l] + k step], and its imaginary part so much further; 0: there is
/// none.
template <class T>
struct rows_in_memory {
  T* x;
  std::int64_t at[16];
  int used;  // lanes
  std::int64_t step, imaginary;

  /// How far lanes are from each other; 0: not equally far.
  [[nodiscard]] std::int64_t distance() const {
    std::int64_t const d = used > 1 ? at[1] - at[0] : 0;
    for (int l = 1; l < used; ++l)
      if (at[l] - at[l - 1] != d) return 0;
    return d;
  }
  /// True if rows are runs of numbers.
  [[nodiscard]] bool are_runs() const { return imaginary == 0 ? step == 1 : imaginary == 1 && step == 2; }
};

/// Elements that are transposed at a time.
inline constexpr std::int64_t elements_of_tile = 16;

/// Calls f(k, l, place) for all numbers of lanes that are `Distance` apart, or, if it is 0, lie anywhere.
template <int Distance, int Lanes, class T, class F>
[[gnu::always_inline]] inline void for_each_number_of(rows_in_memory<T> const& rows, std::int64_t count, F const& f) {
  if constexpr (Distance > 0) {
    std::int64_t place = rows.at[0];
    for (std::int64_t k = 0; k < count; ++k, place += rows.step)
      for_each_independent(Lanes, [=](std::int64_t l) { f(k * Lanes + l, place + l * Distance); });
  } else {
    for (std::int64_t begin = 0; begin < count; begin += elements_of_tile)
      for (int l = 0; l < rows.used; ++l)
        for (std::int64_t k = begin; k < std::min(begin + elements_of_tile, count); ++k)
          f(k * Lanes + l, rows.at[l] + k * rows.step);
  }
}

template <int Distance, int Lanes, class R>
[[gnu::always_inline]] inline void read_directly(rows_in_memory<R const> const& rows, std::int64_t count,
                                                 split_complex<R> to) {
  R const* const x = rows.x;
  R* __restrict const re = to.re;
  R* __restrict const im = to.im;
  std::int64_t const imaginary = Distance == 2 ? 1 : rows.imaginary;
  if (imaginary > 0)
    for_each_number_of<Distance, Lanes>(rows, count, [=](std::int64_t at, std::int64_t place) {
      re[at] = x[place];
      im[at] = x[place + imaginary];
    });
  else
    for_each_number_of<Distance, Lanes>(rows, count, [=](std::int64_t at, std::int64_t place) {
      re[at] = x[place];
      im[at] = R(0);
    });
}

template <int Distance, int Lanes, class R>
[[gnu::always_inline]] inline void write_directly(rows_in_memory<R> const& rows, std::int64_t count, R factor,
                                                  split_complex<R> from) {
  R* __restrict const x = rows.x;
  R const* const re = from.re;
  R const* const im = from.im;
  std::int64_t const imaginary = Distance == 2 ? 1 : rows.imaginary;
  if (imaginary > 0)
    for_each_number_of<Distance, Lanes>(rows, count, [=](std::int64_t at, std::int64_t place) {
      x[place] = factor * re[at];
      x[place + imaginary] = factor * im[at];
    });
  else
    for_each_number_of<Distance, Lanes>(rows, count,
                                        [=](std::int64_t at, std::int64_t place) { x[place] = factor * re[at]; });
}

template <int Lanes, class R>
void read_runs(rows_in_memory<R const> const& rows, std::int64_t distance, std::int64_t count, split_complex<R> to) {
  tile_buffer<R, 2 * elements_of_tile * Lanes> tile;
  R* const t = tile.data();
  std::int64_t const parts = rows.step;
  for (std::int64_t begin = 0; begin < count; begin += elements_of_tile) {
    std::int64_t const n = std::min(elements_of_tile, count - begin);
    transpose(t, Lanes, rows.x + rows.at[0] + begin * parts, distance, Lanes, parts * n, parts * n);
    for (std::int64_t k = 0; k < n; ++k) {
      R const* const from = t + parts * k * Lanes;
      R* const re = to.re + (begin + k) * Lanes;
      R* const im = to.im + (begin + k) * Lanes;
      if (parts == 2)
        for_each_independent(Lanes, [=](std::int64_t l) { re[l] = from[l], im[l] = from[Lanes + l]; });
      else
        for_each_independent(Lanes, [=](std::int64_t l) { re[l] = from[l], im[l] = R(0); });
    }
  }
}

template <int Lanes, class R>
void write_runs(rows_in_memory<R> const& rows, std::int64_t distance, std::int64_t count, R factor,
                split_complex<R> from) {
  tile_buffer<R, 2 * elements_of_tile * Lanes> tile;
  R* const t = tile.data();
  std::int64_t const parts = rows.step;
  for (std::int64_t begin = 0; begin < count; begin += elements_of_tile) {
    std::int64_t const n = std::min(elements_of_tile, count - begin);
    for (std::int64_t k = 0; k < n; ++k) {
      R* const to = t + parts * k * Lanes;
      R const* const re = from.re + (begin + k) * Lanes;
      R const* const im = from.im + (begin + k) * Lanes;
      for_each_independent(Lanes, [=](std::int64_t l) { to[l] = factor * re[l]; });
      if (parts == 2) for_each_independent(Lanes, [=](std::int64_t l) { to[Lanes + l] = factor * im[l]; });
    }
    transpose(rows.x + rows.at[0] + begin * parts, distance, static_cast<R const*>(t), Lanes, parts * n, Lanes, Lanes);
  }
}

/// Reads `count` numbers of each row. Lanes that are not used are zeros.
template <int Lanes, class R>
void read_lanes(rows_in_memory<R const> const& rows, std::int64_t count, split_complex<R> to) {
  std::int64_t const distance = rows.used == Lanes ? rows.distance() : 0;
  if (rows.used < Lanes) std::fill_n(to.re, count * Lanes, R(0)), std::fill_n(to.im, count * Lanes, R(0));
  if (distance == 1)
    with_wide_vectors([&] { read_directly<1, Lanes>(rows, count, to); });
  else if (distance == 2 && rows.imaginary == 1)
    with_wide_vectors([&] { read_directly<2, Lanes>(rows, count, to); });
  else if (distance != 0 && rows.are_runs())
    read_runs<Lanes>(rows, distance, count, to);
  else
    read_directly<0, Lanes>(rows, count, to);
}

/// Writes `count` numbers of each row, times a factor.
template <int Lanes, class R>
void write_lanes(rows_in_memory<R> const& rows, std::int64_t count, R factor, split_complex<R> from) {
  std::int64_t const distance = rows.used == Lanes ? rows.distance() : 0;
  if (distance == 1)
    with_wide_vectors([&] { write_directly<1, Lanes>(rows, count, factor, from); });
  else if (distance == 2 && rows.imaginary == 1)
    with_wide_vectors([&] { write_directly<2, Lanes>(rows, count, factor, from); });
  else if (distance != 0 && rows.are_runs())
    write_runs<Lanes>(rows, distance, count, factor, from);
  else
    write_directly<0, Lanes>(rows, count, factor, from);
}

}  // namespace ostraka::engine::detail
