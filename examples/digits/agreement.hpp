// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Checks that two solutions of the same ridge regression, found on different meshes, differ by no more than a bound.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "ridge.hpp"

namespace digits {

using matrix =
    Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;  ///< the type of os::gather_to_root on device 0

/// The largest difference between two matrices.
inline double largest_difference(matrix const& a, matrix const& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.extent(0); ++i)
    for (std::size_t j = 0; j < a.extent(1); ++j) largest = std::max(largest, std::abs(a(i, j) - b(i, j)));
  return largest;
}

/// The length of the difference of two columns, or the length of one column if `b` is omitted.
inline double distance(std::size_t column, matrix const& a, matrix const& b = {}) {
  double sum = 0;
  for (std::size_t i = 0; i < a.extent(0); ++i) {
    double const d = a(i, column) - (b.size() > 0 ? b(i, column) : 0);
    sum += d * d;
  }
  return std::sqrt(sum);
}

/// A bound for the length of the difference of a class' coefficients between two solutions. `residuals` is the sum of
/// their relative residuals, `iterations` the sum of their iterations. No eigenvalue of A = HᵀH + λI is below λ, so a
/// solution with residual r is within ‖r‖/λ of the exact one. The bound also includes the rounding errors that the
/// solver's residuals do not show, at most about ε‖A‖‖c‖ per iteration, with ‖A‖ ≤ ‖H‖² + λ.
class bound {
 public:
  bound(problem const& p, double residuals, int iterations)
      : right_side_(*os::gather_to_root(pull_back(p.h, p.truth))),
        ridge_(p.ridge),
        residuals_(residuals),
        rounding_(iterations * std::numeric_limits<double>::epsilon() * (os::value(os::einsum<>(p.h, p.h)) + p.ridge)) {
  }

  /// The bound for class `k` of the coefficients `c`.
  [[nodiscard]] double operator()(std::size_t k, matrix const& c) const {
    return (residuals_ * distance(k, right_side_) + rounding_ * distance(k, c)) / ridge_;
  }

 private:
  matrix right_side_;
  double ridge_;
  double residuals_;
  double rounding_;
};

}  // namespace digits
