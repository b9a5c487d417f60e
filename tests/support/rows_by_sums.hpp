// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The oracle of Fourier transforms of rows: sums in long double.

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/engine/kernels/fourier/fourier_rows.hpp>
#include <ostraka/types/values/fourier_kind.hpp>

namespace ostraka::testing {

using exact_number = std::complex<long double>;

/// e^(−2πi k/n) for all k.
inline std::vector<exact_number> roots(std::int64_t n) {
  std::vector<exact_number> w;
  for (std::int64_t k = 0; k < n; ++k)
    w.push_back(std::polar(
        1.0L, -2 * 3.14159265358979323846264338327950288L * static_cast<long double>(k) / static_cast<long double>(n)));
  return w;
}

/// One number of the transform of a row of n, as the table of fourier_kind.hpp has it.
inline exact_number by_sum(fourier_kind kind, std::vector<exact_number> const& x, std::vector<exact_number> const& w,
                           std::int64_t k) {
  auto const n = static_cast<std::int64_t>(w.size());
  auto const times = [&](std::int64_t j) { return j == 0 || 2 * j == n ? 1.0L : 2.0L; };
  exact_number sum = 0;
  for (std::int64_t j = 0; j < static_cast<std::int64_t>(x.size()); ++j) {
    exact_number const forward = w[static_cast<std::size_t>(j * k % n)], v = x[static_cast<std::size_t>(j)];
    switch (kind) {
      case fourier_kind::fft:
      case fourier_kind::rfft:
        sum += v * forward;
        break;
      case fourier_kind::ifft:
        sum += v * std::conj(forward) / static_cast<long double>(n);
        break;
      case fourier_kind::irfft: {
        long double const part = times(j) > 1 ? (v * std::conj(forward)).real() : v.real() * forward.real();
        sum += times(j) * part / static_cast<long double>(n);
        break;
      }
      case fourier_kind::rfft_transposed:
        sum += (v * forward).real();
        break;
      case fourier_kind::irfft_transposed:
        sum += times(k) * v * std::conj(forward) / static_cast<long double>(n);
    }
  }
  return sum;
}

/// The transform of each row of x, by sums.
inline std::vector<exact_number> rows_by_sums(engine::fourier_rows const& rows, std::vector<exact_number> const& x) {
  auto const read = rows.length_read(), written = rows.length_written();
  auto const w = roots(rows.n);
  std::vector<exact_number> y(static_cast<std::size_t>(rows.count() * written)), row(static_cast<std::size_t>(read));
  for (std::int64_t o = 0; o < rows.outer; ++o)
    for (std::int64_t i = 0; i < rows.step; ++i) {
      for (std::int64_t k = 0; k < read; ++k)
        row[static_cast<std::size_t>(k)] = x[static_cast<std::size_t>((o * read + k) * rows.step + i)];
      for (std::int64_t k = 0; k < written; ++k)
        y[static_cast<std::size_t>((o * written + k) * rows.step + i)] = by_sum(rows.kind, row, w, k);
    }
  return y;
}

}  // namespace ostraka::testing
