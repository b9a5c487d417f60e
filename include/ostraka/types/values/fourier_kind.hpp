// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The discrete Fourier transforms of n numbers, as in NumPy: forward ones with e^(−2πi jk/n) and no factor,
/// inverse ones with 1/n. The spectrum of real numbers has n/2 + 1 elements; the others are their conjugates.
/// Derivatives use the transposes of the real transforms.

namespace ostraka {

/// The kind of a transform from j to k.
enum class fourier_kind {
  fft,               ///< y_k = Σ_j x_j w^jk,                  w = e^(−2πi/n)
  ifft,              ///< y_k = (1/n) Σ_j x_j w^−jk
  rfft,              ///< of real x, k ≤ n/2
  irfft,             ///< to real y: y_k = (1/n) Σ_j c_j Re(x_j w^−jk), where c_j is 1 for j = 0 and j = n/2, else 2
  rfft_transposed,   ///< to real y: y_k = Σ_j Re(x_j w^jk), j ≤ n/2
  irfft_transposed,  ///< of real x: y_k = (c_k/n) Σ_j x_j w^−jk, k ≤ n/2
};

/// The name of the kind, as profiles and errors print it.
[[nodiscard]] constexpr char const* name_of(fourier_kind kind) {
  switch (kind) {
    case fourier_kind::fft:
      return "fft";
    case fourier_kind::ifft:
      return "ifft";
    case fourier_kind::rfft:
      return "rfft";
    case fourier_kind::irfft:
      return "irfft";
    case fourier_kind::rfft_transposed:
      return "rfft_transposed";
    case fourier_kind::irfft_transposed:
      return "irfft_transposed";
  }
  return "";
}

/// The kind with the transposed matrix.
[[nodiscard]] constexpr fourier_kind transpose_of(fourier_kind kind) {
  switch (kind) {
    case fourier_kind::rfft:
      return fourier_kind::rfft_transposed;
    case fourier_kind::irfft:
      return fourier_kind::irfft_transposed;
    case fourier_kind::rfft_transposed:
      return fourier_kind::rfft;
    case fourier_kind::irfft_transposed:
      return fourier_kind::irfft;
    default:
      return kind;
  }
}

/// The kind of the complex transforms along the other axes, in a transform along several axes.
[[nodiscard]] constexpr fourier_kind complex_kind(fourier_kind kind) {
  switch (kind) {
    case fourier_kind::fft:
    case fourier_kind::rfft:
    case fourier_kind::rfft_transposed:
      return fourier_kind::fft;
    default:
      return fourier_kind::ifft;
  }
}

/// True if the transform makes real numbers from complex ones.
[[nodiscard]] constexpr bool has_real_result(fourier_kind kind) {
  return kind == fourier_kind::irfft || kind == fourier_kind::rfft_transposed;
}

/// True if the transform returns half of the spectrum of real numbers.
[[nodiscard]] constexpr bool has_half_spectrum(fourier_kind kind) {
  return kind == fourier_kind::rfft || kind == fourier_kind::irfft_transposed;
}

/// True if a transform along several axes begins with the last of them. The transform from real numbers comes first and
/// the one to real numbers last, and an inverse undoes a forward transform in reverse order.
[[nodiscard]] constexpr bool begins_with_last_axis(fourier_kind kind) {
  return has_half_spectrum(kind) || kind == fourier_kind::fft;
}

}  // namespace ostraka
