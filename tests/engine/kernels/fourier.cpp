// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Fourier transforms of rows against sums in long double: each kind, each length to 40 and lengths with large factors,
/// rows one after another, side by side and both, float and double. The error of a row is at most a unit in the last
/// place for each doubling of its length. Transforms along several dimensions in turn, against the same sums. Built
/// twice if FFTW is found: our own transforms, and FFTW's.
// ranks: 1

#include <doctest/doctest.h>

#include <ostraka/engine/kernels/fourier/transform_in_turn.hpp>
#include <ostraka/engine/kernels/fourier/transform_rows.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/rows_by_sums.hpp"

namespace os = ostraka;
using os::fourier_kind;
using os::engine::fourier_rows;

namespace {

using number = os::testing::exact_number;
using os::testing::by_sum;
using os::testing::roots;
using os::testing::rows_by_sums;

/// The error of the worst row in units in the last place, divided by the error that is allowed.
template <class R>
double error_of(fourier_rows const& rows) {
  bool const has_real_result = os::has_real_result(rows.kind);
  auto const read = rows.length_read(), written = rows.length_written();
  std::vector<R> x(static_cast<std::size_t>(rows.count() * read * (rows.of_reals ? 1 : 2)));
  std::vector<R> y(static_cast<std::size_t>(rows.count() * written * (has_real_result ? 1 : 2)), R(77));
  std::uint64_t state = static_cast<std::uint64_t>(rows.n);
  for (R& v : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<R>(static_cast<double>(state >> 40) / (1 << 23) - 1);
  }
  std::vector<R> const before = x;
  os::engine::transform_rows(Kokkos::DefaultHostExecutionSpace(), rows, x.data(), y.data());
  CHECK(x == before);
  std::vector<R> in_place = y;
  if (!rows.is_real() && !rows.of_reals) {
    in_place = x;
    os::engine::transform_rows(Kokkos::DefaultHostExecutionSpace(), rows, in_place.data(), in_place.data());
  }
  auto const w = roots(rows.n);
  double worst = 0;
  for (std::int64_t o = 0; o < rows.outer; ++o)
    for (std::int64_t i = 0; i < rows.step; ++i) {
      std::vector<number> row;
      for (std::int64_t k = 0; k < read; ++k) {
        auto const at = static_cast<std::size_t>((o * read + k) * rows.step + i);
        row.push_back(rows.of_reals ? number(x[at]) : number(x[2 * at], x[2 * at + 1]));
      }
      long double norm = 0, error = 0, error_in_place = 0;
      for (std::int64_t k = 0; k < written; ++k) {
        auto const at = static_cast<std::size_t>((o * written + k) * rows.step + i);
        number const want = by_sum(rows.kind, row, w, k);
        norm += std::norm(want);
        auto const in = [&](std::vector<R> const& z) {
          return has_real_result ? number(z[at]) : number(z[2 * at], z[2 * at + 1]);
        };
        error += std::norm(want - in(y));
        error_in_place += std::norm(want - in(in_place));
      }
      double const units =
          static_cast<double>(std::sqrt(std::max(error, error_in_place) / norm)) / std::numeric_limits<R>::epsilon();
      worst = std::max(worst, units / (1 + std::log2(static_cast<double>(rows.n))));
    }
  return worst;
}

template <class R>
void check_lengths(fourier_kind kind, bool of_reals) {
  for (std::int64_t n = 1; n <= 40; ++n)
    for (std::int64_t const outer : {1, 3})
      for (std::int64_t const step : {1, 2, 19}) {
        INFO(os::name_of(kind), " of ", n, ", ", outer, " x ", step);
        CHECK(error_of<R>({kind, n, outer, step, of_reals}) <= 1);
      }
  for (std::int64_t const n : {97, 101, 120, 128, 243, 256, 331, 625})
    for (std::int64_t const step : {1, 8, 16}) {
      INFO(os::name_of(kind), " of ", n, ", ", step, " side by side");
      CHECK(error_of<R>({kind, n, 1, step, of_reals}) <= 1);
    }
  for (std::int64_t const n : {4, 7, 16, 30, 64})  // several batches are read together
    for (std::int64_t const step : {64, 130, 160, 300}) {
      INFO(os::name_of(kind), " of ", n, ", 2 x ", step);
      CHECK(error_of<R>({kind, n, 2, step, of_reals}) <= 1);
    }
}

template <class R>
void check_kinds() {
  for (bool const of_reals : {false, true}) {
    check_lengths<R>(fourier_kind::fft, of_reals);
    check_lengths<R>(fourier_kind::ifft, of_reals);
  }
  check_lengths<R>(fourier_kind::rfft, true);
  check_lengths<R>(fourier_kind::irfft, false);
  check_lengths<R>(fourier_kind::rfft_transposed, false);
  check_lengths<R>(fourier_kind::irfft_transposed, true);
}

/// The error of transforms in turn, as error_of has it. `x` has real elements if the first transform reads them.
template <class R>
double error_in_turn(std::vector<fourier_rows> const& rows) {
  bool const has_real_result = os::has_real_result(rows.back().kind), of_reals = rows[0].of_reals;
  std::vector<R> x(static_cast<std::size_t>(rows[0].numbers_read()));
  std::vector<R> y(static_cast<std::size_t>(rows.back().numbers_written()), R(77));
  for (std::size_t at = 0; at < x.size(); ++at) x[at] = static_cast<R>(static_cast<double>(at * 37 % 101) / 50 - 1);
  std::vector<R> const before = x;
  std::vector<number> want;
  for (std::size_t at = 0; at < x.size(); at += of_reals ? 1 : 2)
    want.push_back(of_reals ? number(x[at]) : number(x[at], x[at + 1]));
  std::int64_t n = 1;
  for (fourier_rows const& r : rows) want = rows_by_sums(r, want), n *= r.n;
  os::engine::transform_in_turn(Kokkos::DefaultHostExecutionSpace(), rows.data(), static_cast<int>(rows.size()),
                                static_cast<R const*>(x.data()), y.data());
  CHECK(x == before);
  long double norm = 0, error = 0;
  for (std::size_t at = 0; at < want.size(); ++at) {
    norm += std::norm(want[at]);
    error += std::norm(want[at] - (has_real_result ? number(y[at]) : number(y[2 * at], y[2 * at + 1])));
  }
  double const units = static_cast<double>(std::sqrt(error / norm)) / std::numeric_limits<R>::epsilon();
  return units / (1 + std::log2(static_cast<double>(n)));
}

/// Transforms along dimensions of a block of these extents, in turn.
template <class R>
void check_in_turn(std::int64_t a, std::int64_t b, std::int64_t c) {
  using kind = fourier_kind;
  std::int64_t const half = c / 2 + 1;
  INFO(a, " x ", b, " x ", c);
  for (bool const of_reals : {false, true})
    CHECK(error_in_turn<R>({{kind::fft, c, a * b, 1, of_reals}, {kind::fft, b, a, c}, {kind::fft, a, 1, b * c}}) <= 1);
  CHECK(error_in_turn<R>({{kind::ifft, b, a, c}, {kind::ifft, c, a * b, 1}}) <= 1);
  CHECK(error_in_turn<R>({{kind::ifft, a, 1, b * c}, {kind::ifft, c, a * b, 1}}) <= 1);
  CHECK(error_in_turn<R>({{kind::rfft, c, a * b, 1, true}, {kind::fft, b, a, half}}) <= 1);
  CHECK(error_in_turn<R>({{kind::ifft, b, a, half}, {kind::irfft, c, a * b, 1}}) <= 1);
  CHECK(error_in_turn<R>({{kind::ifft, a, 1, b * half}, {kind::ifft, b, a, half}, {kind::irfft, c, a * b, 1}}) <= 1);
  CHECK(error_in_turn<R>({{kind::fft, b, a, half}, {kind::rfft_transposed, c, a * b, 1}}) <= 1);
  CHECK(error_in_turn<R>({{kind::irfft_transposed, c, a * b, 1, true}, {kind::ifft, b, a, half}}) <= 1);
}

}  // namespace

TEST_CASE("transforms along several dimensions, in chunks") {
  for (std::int64_t const a : {1, 2, 3})
    for (std::int64_t const b : {1, 2, 5, 16})
      for (std::int64_t const c : {1, 2, 3, 8, 15}) {
        check_in_turn<double>(a, b, c);
        check_in_turn<float>(a, b, c);
      }
  using kind = fourier_kind;  // of the last two dimensions chunks are cached, of all three not
  CHECK(error_in_turn<double>({{kind::fft, 8, 8, 3000}, {kind::fft, 4, 2, 24000}, {kind::fft, 2, 1, 96000}}) <= 1);
  CHECK(error_in_turn<double>({{kind::ifft, 2, 1, 96000}, {kind::ifft, 4, 2, 24000}, {kind::irfft, 14, 8, 3000}}) <= 1);
}

TEST_CASE("transforms of double") { check_kinds<double>(); }
TEST_CASE("transforms of float") { check_kinds<float>(); }

TEST_CASE("rows of no elements, and no rows") {
  double const none = 0;
  double y[8] = {5, 5, 5, 5, 5, 5, 5, 5};
  os::engine::transform_rows(Kokkos::DefaultHostExecutionSpace(), {fourier_kind::rfft, 0, 1, 2, true}, &none, y);
  CHECK(y[0] == 0);  // a spectrum of one number, a sum of nothing
  CHECK(y[3] == 0);
  CHECK(y[4] == 5);
  os::engine::transform_rows(Kokkos::DefaultHostExecutionSpace(), {fourier_kind::fft, 0, 1, 2, false}, &none, y);
  os::engine::transform_rows(Kokkos::DefaultHostExecutionSpace(), {fourier_kind::fft, 8, 0, 2, false}, &none, y);
  os::engine::transform_rows(Kokkos::DefaultHostExecutionSpace(), {fourier_kind::irfft, 0, 1, 2, false}, &none, y);
  CHECK(y[4] == 5);
}

TEST_CASE("a NaN stays in its row, and more lengths than are remembered") {
  for (std::int64_t n = 2; n < 40; ++n) {
    std::vector<double> x(static_cast<std::size_t>(2 * 9 * n), 1.0), y(x.size());
    x[0] = std::nan("");
    os::engine::transform_rows(Kokkos::DefaultHostExecutionSpace(), {fourier_kind::fft, n, 9, 1, false}, x.data(),
                               y.data());
    CHECK(std::isnan(y[0]));
    for (std::size_t at = static_cast<std::size_t>(2 * n); at < y.size(); ++at) CHECK_FALSE(std::isnan(y[at]));
  }
}
