// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The result for an element of a row, given the row's statistic: two coefficients per row, and a formula of
/// them for each element.
///
///     softmax        exp(x − a) b            a the shift, b = 1 / s, 0 of a row of −∞ alone
///     log_softmax    (x − a) − b             b = log s, 0 of such a row
///     rms_norm       x b                     b = 1 / √(Σx² / n + ε)
///     layer_norm     (x − a) b               a the mean, b = 1 / √(d / n + ε)

#include <cmath>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <ostraka/engine/kernels/rows/row_statistics.hpp>

namespace ostraka::engine {

/// A formula with a special value for hidden elements.
template <class Formula>
concept HidesElements = requires {
  Formula::hidden;
};

/// The coefficients of a row.
template <class T>
struct row_coefficients {
  T a = 0;
  T b = 0;
};

template <class T>
struct softmax_formula {
  using statistic = exp_sum<T>;
  static constexpr T hidden = 0;  ///< the result for −∞
  bool hides = false;             ///< true if −∞ marks a hidden element, which NaN in its row does not change

  KOKKOS_INLINE_FUNCTION row_coefficients<T> of_row(statistic const& s, std::int64_t) const {
    T const sum = s.divisor();
    return {s.shift(), sum == T(0) ? T(0) : T(1) / sum};
  }
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x, T a, T b) const { return engine::exp(x - a) * b; }
};

template <class T>
struct log_softmax_formula {
  using statistic = exp_sum<T>;
  static constexpr T hidden = detail::minus_infinity<T>;
  bool hides = false;

  KOKKOS_INLINE_FUNCTION row_coefficients<T> of_row(statistic const& s, std::int64_t) const {
    T const sum = s.divisor();
    return {s.shift(), sum == T(0) ? T(0) : engine::log(sum)};
  }
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x, T a, T b) const { return (x - a) - b; }
};

template <class T>
struct rms_norm_formula {
  using statistic = square_sum<T>;
  T epsilon;

  KOKKOS_INLINE_FUNCTION row_coefficients<T> of_row(statistic const& s, std::int64_t n) const {
    return {T(0), T(1) / std::sqrt(s.sum / T(n) + epsilon)};
  }
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x, T, T b) const { return x * b; }
};

template <class T>
struct layer_norm_formula {
  using statistic = mean_and_deviations<T>;
  T epsilon;

  KOKKOS_INLINE_FUNCTION row_coefficients<T> of_row(statistic const& s, std::int64_t n) const {
    return {s.mean, T(1) / std::sqrt(s.deviations / T(n) + epsilon)};
  }
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x, T a, T b) const { return (x - a) * b; }
};

}  // namespace ostraka::engine
