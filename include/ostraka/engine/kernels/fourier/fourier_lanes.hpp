// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Reads rows of a block into a buffer in which they are interleaved (mixed_radix.hpp), and writes them back.
/// Rows that are runs in memory form a matrix, which is transposed in registers: its columns are the real and imaginary
/// parts in the buffer. Rows that are interleaved in memory, too, are copied directly.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/fourier/mixed_radix.hpp>
#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/kernels/portable/transpose_matrix.hpp>

namespace ostraka::engine::detail {

/// Rows in memory: number k of lane l is x[at[l] + k step], and its imaginary part is `imaginary` further; 0: it has
/// none.
template <class T>
struct rows_in_memory {
  T* x;
  std::int64_t at[16];
  int used;  // lanes
  std::int64_t step, imaginary;

  /// Returns the distance between lanes; 0 if it is not constant.
  [[nodiscard]] std::int64_t distance() const {
    std::int64_t const d = used > 1 ? at[1] - at[0] : 0;
    for (int l = 1; l < used; ++l)
      if (at[l] - at[l - 1] != d) return 0;
    return d;
  }
  /// True if rows are runs of numbers.
  [[nodiscard]] bool are_runs() const { return imaginary == 0 ? step == 1 : imaginary == 1 && step == 2; }
};

/// The numbers of a row that are copied at a time, for lanes without a constant distance.
inline constexpr std::int64_t numbers_of_tile = 16;

/// Calls f(place in the buffer, place in memory) for all numbers of lanes without a constant distance.
template <int Lanes, class T, class F>
void for_each_number_of(rows_in_memory<T> const& rows, std::int64_t count, F const& f) {
  for (std::int64_t begin = 0; begin < count; begin += numbers_of_tile)
    for (int l = 0; l < rows.used; ++l)
      for (std::int64_t k = begin; k < std::min(begin + numbers_of_tile, count); ++k)
        f(k * numbers_apart(Lanes) + l, rows.at[l] + k * rows.step);
}

/// Reads `batches` buffers of lanes that are `Distance` apart. In memory, the lanes of a buffer follow those of the
/// previous buffer.
template <int Distance, int Lanes, class R>
[[gnu::always_inline]] inline void read_side_by_side(rows_in_memory<R const> const& rows, std::int64_t count,
                                                     split_complex<R> const* to, int batches) {
  std::int64_t const imaginary = Distance == 2 ? 1 : rows.imaginary;
  R const* from = rows.x + rows.at[0];
  for (std::int64_t k = 0; k < count; ++k, from += rows.step)
    for (int b = 0; b < batches; ++b) {
      R const* const x = from + b * Lanes * Distance;
      R* const re = to[b].re + k * numbers_apart(Lanes);
      R* const im = to[b].im + k * numbers_apart(Lanes);
      if (imaginary > 0)
        for_each_independent(Lanes, [=](std::int64_t l) {
          re[l] = x[l * Distance];
          im[l] = x[l * Distance + imaginary];
        });
      else
        for_each_independent(Lanes, [=](std::int64_t l) { re[l] = x[l * Distance], im[l] = R(0); });
    }
}

template <int Distance, int Lanes, class R>
[[gnu::always_inline]] inline void write_side_by_side(rows_in_memory<R> const& rows, std::int64_t count, R factor,
                                                      split_complex<R> const* from, int batches) {
  std::int64_t const imaginary = Distance == 2 ? 1 : rows.imaginary;
  R* to = rows.x + rows.at[0];
  for (std::int64_t k = 0; k < count; ++k, to += rows.step)
    for (int b = 0; b < batches; ++b) {
      R* const x = to + b * Lanes * Distance;
      R const* const re = from[b].re + k * numbers_apart(Lanes);
      R const* const im = from[b].im + k * numbers_apart(Lanes);
      if (imaginary > 0)
        for_each_independent(Lanes, [=](std::int64_t l) {
          x[l * Distance] = factor * re[l];
          x[l * Distance + imaginary] = factor * im[l];
        });
      else
        for_each_independent(Lanes, [=](std::int64_t l) { x[l * Distance] = factor * re[l]; });
    }
}

/// Reads rows whose parts are runs in memory, with a constant distance between rows.
template <int Lanes, class R>
void read_runs(rows_in_memory<R const> const& rows, std::int64_t distance, std::int64_t count, split_complex<R> to) {
  if (rows.step == 2) return transpose(to.re, Lanes, rows.x + rows.at[0], distance, Lanes, 2 * count, 2 * count);
  transpose(to.re, 2 * Lanes, rows.x + rows.at[0], distance, Lanes, count, count);
  for (std::int64_t k = 0; k < count; ++k) std::fill_n(to.im + k * numbers_apart(Lanes), Lanes, R(0));
}

template <int Lanes, class R>
void write_runs(rows_in_memory<R> const& rows, std::int64_t distance, std::int64_t count, R factor,
                split_complex<R> from) {
  std::int64_t const parts = rows.step;
  if (factor != R(1))
    with_wide_vectors([&] {
      R* const x = from.re;
      for_each_independent(2 * count * Lanes, [=](std::int64_t at) { x[at] *= factor; });
    });
  transpose(rows.x + rows.at[0], distance, static_cast<R const*>(from.re), 2 / parts * Lanes, parts * count, Lanes,
            Lanes);
}

/// Reads `count` numbers of each row. Unused lanes become zeros. @pre one batch, or batches that are adjacent in memory
template <int Lanes, class R>
void read_lanes(rows_in_memory<R const> const& rows, std::int64_t count, split_complex<R> const* to, int batches) {
  std::int64_t const distance = rows.used == Lanes ? rows.distance() : 0;
  if (rows.used < Lanes) std::fill_n(to->re, count * numbers_apart(Lanes), R(0));
  if (distance == 1)
    with_wide_vectors([&] { read_side_by_side<1, Lanes>(rows, count, to, batches); });
  else if (distance == 2 && rows.imaginary == 1)
    with_wide_vectors([&] { read_side_by_side<2, Lanes>(rows, count, to, batches); });
  else if (distance != 0 && rows.are_runs())
    read_runs<Lanes>(rows, distance, count, *to);
  else
    for_each_number_of<Lanes>(rows, count, [&](std::int64_t at, std::int64_t place) {
      to->re[at] = rows.x[place];
      to->im[at] = rows.imaginary > 0 ? rows.x[place + rows.imaginary] : R(0);
    });
}

/// Writes `count` numbers of each row, times a factor. It destroys the contents of the buffers.
template <int Lanes, class R>
void write_lanes(rows_in_memory<R> const& rows, std::int64_t count, R factor, split_complex<R> const* from,
                 int batches) {
  std::int64_t const distance = rows.used == Lanes ? rows.distance() : 0;
  if (distance == 1)
    with_wide_vectors([&] { write_side_by_side<1, Lanes>(rows, count, factor, from, batches); });
  else if (distance == 2 && rows.imaginary == 1)
    with_wide_vectors([&] { write_side_by_side<2, Lanes>(rows, count, factor, from, batches); });
  else if (distance != 0 && rows.are_runs())
    write_runs<Lanes>(rows, distance, count, factor, *from);
  else
    for_each_number_of<Lanes>(rows, count, [&](std::int64_t at, std::int64_t place) {
      rows.x[place] = factor * from->re[at];
      if (rows.imaginary > 0) rows.x[place + rows.imaginary] = factor * from->im[at];
    });
}

}  // namespace ostraka::engine::detail
