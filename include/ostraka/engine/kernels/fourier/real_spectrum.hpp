// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Real rows of an even length n = 2h are transformed as h complex numbers z_j = x_2j + i x_(2j+1). With Z the
/// transform of z, w = e^(−2πi/n), and Z_h = Z_0, the spectrum of x is
///
///     X_k = E_k + w^k O_k,   2 E_k = Z_k + conj(Z_(h−k)),   2i O_k = Z_k − conj(Z_(h−k)),   k ≤ h
///
/// All functions work on interleaved rows, like mixed_radix.hpp.

#include <cstdint>

#include <ostraka/engine/kernels/fourier/fourier_rows.hpp>
#include <ostraka/engine/kernels/fourier/mixed_radix.hpp>
#include <ostraka/engine/kernels/loops/independent.hpp>

namespace ostraka::engine::detail {

/// to <- the spectrum of real rows, h + 1 numbers, from the transform of their pairs. `w`: w^k for k ≤ h.
template <class R>
[[gnu::always_inline]] inline void spectrum_from_pairs(std::int64_t h, std::int64_t lanes, root_of_unity<R> const* w,
                                                       split_complex<R> from, split_complex<R> to) {
  std::int64_t const apart = numbers_apart(lanes);
  for (std::int64_t k = 0; k <= h; ++k) {
    std::int64_t const a = (k == h ? 0 : k) * apart, b = (k == 0 ? 0 : h - k) * apart;
    R const wr = w[k].re, wi = w[k].im;
    for_each_independent(lanes, [=](std::int64_t l) {
      R const er = R(0.5) * (from.re[a + l] + from.re[b + l]), ei = R(0.5) * (from.im[a + l] - from.im[b + l]);
      R const odd_r = R(0.5) * (from.im[a + l] + from.im[b + l]), odd_i = R(0.5) * (from.re[b + l] - from.re[a + l]);
      to.re[k * apart + l] = er + (wr * odd_r - wi * odd_i);
      to.im[k * apart + l] = ei + (wr * odd_i + wi * odd_r);
    });
  }
}

/// to <- h numbers whose inverse transform is the pairs, from the spectrum of real rows. Does not read the imaginary
/// parts of numbers that are real in such a spectrum.
template <class R>
[[gnu::always_inline]] inline void pairs_from_spectrum(std::int64_t h, std::int64_t lanes, root_of_unity<R> const* w,
                                                       split_complex<R> from, split_complex<R> to) {
  std::int64_t const apart = numbers_apart(lanes);
  for (std::int64_t l = 0; l < lanes; ++l) from.im[l] = from.im[h * apart + l] = R(0);
  for (std::int64_t k = 0; k < h; ++k) {
    std::int64_t const a = k * apart, b = (h - k) * apart;
    R const wr = w[k].re, wi = w[k].im;
    for_each_independent(lanes, [=](std::int64_t l) {
      R const er = R(0.5) * (from.re[a + l] + from.re[b + l]), ei = R(0.5) * (from.im[a + l] - from.im[b + l]);
      R const dr = R(0.5) * (from.re[a + l] - from.re[b + l]), di = R(0.5) * (from.im[a + l] + from.im[b + l]);
      R const odd_r = wr * dr + wi * di, odd_i = wr * di - wi * dr;
      to.re[k * apart + l] = er - odd_i;
      to.im[k * apart + l] = ei + odd_r;
    });
  }
}

/// Appends the second half of the spectrum of real rows of an odd length n to the first half.
template <class R>
void complete_spectrum(std::int64_t n, std::int64_t lanes, split_complex<R> x) {
  std::int64_t const apart = numbers_apart(lanes);
  for (std::int64_t l = 0; l < lanes; ++l) x.im[l] = R(0);
  for (std::int64_t k = n / 2 + 1; k < n; ++k)
    for (std::int64_t l = 0; l < lanes; ++l) {
      x.re[k * apart + l] = x.re[(n - k) * apart + l];
      x.im[k * apart + l] = -x.im[(n - k) * apart + l];
    }
}

/// Conjugates half a spectrum, and multiplies each number by its occurrences in the whole spectrum (`spread`), or
/// divides by them.
template <class R>
void conjugate_half(std::int64_t n, std::int64_t lanes, bool spread, split_complex<R> x) {
  std::int64_t const apart = numbers_apart(lanes);
  for (std::int64_t k = 0; k <= n / 2; ++k) {
    R const times = static_cast<R>(times_in_spectrum(k, n)), factor = spread ? times : R(1) / times;
    for (std::int64_t l = 0; l < lanes; ++l) {
      x.re[k * apart + l] *= factor;
      x.im[k * apart + l] *= -factor;
    }
  }
}

}  // namespace ostraka::engine::detail
