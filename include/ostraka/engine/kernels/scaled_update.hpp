// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The update of a block with a computed value: C <- alpha x + beta C, as in BLAS. This file has the two
/// factors; update_block.hpp applies them to whole blocks.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

/// c <- alpha x + beta c. With beta = 0, c is not read, with alpha = 0, x is not; unread values may be NaN or
/// uninitialised. 16-bit elements are computed as floats, x may also be float, and the result is rounded once.
template <class T>
struct update {
  using wide = accumulator_of_t<T>;

  wide alpha = wide(1);
  wide beta = wide(0);

  /// True if the update is c <- x.
  KOKKOS_INLINE_FUNCTION bool overwrites() const { return alpha == wide(1) && beta == wide(0); }

  /// True if neither factor is 0, so that loops need no test for every element, which would not vectorise.
  KOKKOS_INLINE_FUNCTION bool reads_both() const { return alpha != wide(0) && beta != wide(0); }

  template <class Summed>
  KOKKOS_INLINE_FUNCTION T operator()(T const& c, Summed const& x) const noexcept {
    if (beta == wide(0)) return alpha == wide(0) ? T(wide(0)) : alpha == wide(1) ? T(x) : T(alpha * x);
    wide const kept = beta == wide(1) ? wide(c) : wide(beta * c);
    return T(alpha == wide(0) ? kept : alpha == wide(1) ? x + kept : alpha * x + kept);
  }

  /// Writes a run of neighbours. Tests the factors once for the run, not for every element.
  template <class Summed>
  KOKKOS_INLINE_FUNCTION void write(T* c, std::int64_t step, Summed const* x, std::int64_t count) const {
    if (step == 1 && overwrites()) {
      for_each_independent(count, [c, x](std::int64_t i) { c[i] = T(x[i]); });
    } else if (step == 1 && reads_both()) {
      for_each_independent(count, [c, x, a = alpha, b = beta](std::int64_t i) { c[i] = T(a * x[i] + b * c[i]); });
    } else if (overwrites()) {
      for (std::int64_t i = 0; i < count; ++i) c[i * step] = T(x[i]);
    } else if (reads_both()) {
      for (std::int64_t i = 0; i < count; ++i) c[i * step] = T(alpha * x[i] + beta * c[i * step]);
    } else {
      for (std::int64_t i = 0; i < count; ++i) c[i * step] = (*this)(c[i * step], x[i]);
    }
  }
};

}  // namespace ostraka::engine
