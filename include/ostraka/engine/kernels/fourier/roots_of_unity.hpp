// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The roots of unity e^(−2πi k/n), correctly rounded except in rare cases: whole-number arithmetic reduces
/// the angle to an eighth of the circle, so its only error is that of one division.

#include <cmath>
#include <cstdint>

namespace ostraka::engine::detail {

/// Real and imaginary part.
template <class R>
struct root_of_unity {
  R re, im;
};

/// e^(−2πi k/n). @pre 0 ≤ k < n
template <class R>
root_of_unity<R> root(std::int64_t k, std::int64_t n) {
  constexpr long double eighth = 0.785398163397448309615660845819875721L;
  std::int64_t const octant = 8 * k / n;
  std::int64_t const rest = 8 * k - octant * n;
  long double const angle =
      eighth * static_cast<long double>(octant % 2 == 0 ? rest : n - rest) / static_cast<long double>(n);
  long double const c = std::cos(angle), s = std::sin(angle);
  bool const swapped = octant == 1 || octant == 2 || octant == 5 || octant == 6;
  long double const re = swapped ? s : c, im = swapped ? c : s;
  return {static_cast<R>(octant >= 2 && octant < 6 ? -re : re), static_cast<R>(octant < 4 ? -im : im)};
}

}  // namespace ostraka::engine::detail
