// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A request to a library of Fourier transforms: transform the rows along a dimension of a dense block to a
/// dense block, in which that dimension may have another extent.

#include <cstdint>

#include <ostraka/types/values/fourier_kind.hpp>

namespace ostraka::engine {

/// Row (o, i) begins at o · step · length + i, and its elements are `step` apart. The spectrum of a real row has n/2 +
/// 1 elements, all other rows have n. Complex numbers are pairs.
struct fourier_rows {
  fourier_kind kind = fourier_kind::fft;
  std::int64_t n = 0;  ///< the length of the transform
  std::int64_t outer = 1;
  std::int64_t step = 1;
  bool of_reals = false;  ///< true if the elements read are real

  [[nodiscard]] bool is_real() const { return kind != fourier_kind::fft && kind != fourier_kind::ifft; }
  [[nodiscard]] bool is_inverse() const { return kind == fourier_kind::ifft || has_real_result(kind); }
  [[nodiscard]] std::int64_t half() const { return n / 2 + 1; }
  [[nodiscard]] std::int64_t length_read() const { return has_real_result(kind) ? half() : n; }
  [[nodiscard]] std::int64_t length_written() const { return has_half_spectrum(kind) ? half() : n; }
  [[nodiscard]] std::int64_t count() const { return outer * step; }
  /// Return the floating-point numbers read and written: two for a complex number.
  [[nodiscard]] std::int64_t numbers_read() const { return count() * length_read() * (of_reals ? 1 : 2); }
  [[nodiscard]] std::int64_t numbers_written() const {
    return count() * length_written() * (has_real_result(kind) ? 1 : 2);
  }
};

/// Returns how often number k of half a spectrum occurs in the whole spectrum.
[[nodiscard]] constexpr int times_in_spectrum(std::int64_t k, std::int64_t n) { return k == 0 || 2 * k == n ? 1 : 2; }

}  // namespace ostraka::engine
