// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The statistics of a row that softmax and norms need. Statistics of parts of a row can be merged:
///
///     exp_sum                m = max x, s = Σ exp(x − m)    m = max(m₁, m₂), s = s₁ exp(m₁ − m) + s₂ exp(m₂ − m)
///     square_sum             s = Σ x²                       s = s₁ + s₂
///     mean_and_deviations    mean μ, d = Σ (x − μ)²         μ = μ₁ + δ n₂ / n, d = d₁ + d₂ + δ² n₁ n₂ / n
///                                                           where δ = μ₂ − μ₁, n = n₁ + n₂
///
/// The last formula is from Chan, Golub, LeVeque (1983). Each has functions for a run (one row), for a panel (adjacent
/// rows, with vectors across them), and for a device's thread. A row, or a part of one, has s = 0 if it has no
/// elements, or only −∞.

#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <ostraka/engine/kernels/folds/unrolled_dot.hpp>
#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/lanes.hpp>
#include <ostraka/engine/kernels/numbers/math.hpp>

namespace ostraka::engine {

/// The most adjacent rows that are processed at once.
inline constexpr std::int64_t widest_panel = 512;

namespace detail {

template <class T>
inline constexpr T minus_infinity = -std::numeric_limits<T>::infinity();

/// Returns the number subtracted before exp: the largest element, or 0 if that is infinite.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T shift_of(T largest) {
  return largest == minus_infinity<T> || largest == -minus_infinity<T> ? T(0) : largest;
}

/// Returns the largest element of a run. Ignores NaN, which appears in the sum.
template <class T>
T largest_of_run(T const* x, std::int64_t n) {
  constexpr std::int64_t lanes = 4 * fold_lanes;
  T side[lanes];
  for (int l = 0; l < lanes; ++l) side[l] = minus_infinity<T>;
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (int l = 0; l < lanes; ++l) side[l] = side[l] < x[k + l] ? x[k + l] : side[l];
  for (int half = lanes / 2; half >= fold_lanes; half /= 2)
    for (int l = 0; l < half; ++l) side[l] = side[l] < side[half + l] ? side[half + l] : side[l];
  T largest = minus_infinity<T>;
  for (int l = 0; l < fold_lanes; ++l) largest = largest < side[l] ? side[l] : largest;
  for (; k < n; ++k) largest = largest < x[k] ? x[k] : largest;
  return largest;
}

/// Returns Σ exp(x − shift). Pads the last vector with −∞.
template <class T>
T sum_of_exp(T const* x, std::int64_t n, T shift) {
  constexpr std::int64_t lanes = fold_lanes;
  T side[lanes], rest[lanes];
  for (int l = 0; l < lanes; ++l) {
    side[l] = 0;
    rest[l] = minus_infinity<T>;
  }
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (int l = 0; l < lanes; ++l) side[l] += engine::exp(x[k + l] - shift);
  if (k < n) {
    for (int l = 0; k + l < n; ++l) rest[l] = x[k + l];
    for (int l = 0; l < lanes; ++l) side[l] += engine::exp(rest[l] - shift);
  }
  return sum_of_lanes<lanes>(side);
}

}  // namespace detail

/// The largest element, and the sum of exp relative to it.
template <class T>
struct exp_sum {
  using number = T;
  static constexpr int numbers = 2;

  T largest = detail::minus_infinity<T>;
  T sum = 0;

  KOKKOS_INLINE_FUNCTION static exp_sum merge(exp_sum const& a, exp_sum const& b, std::int64_t, std::int64_t) {
    T const largest = a.largest < b.largest ? b.largest : a.largest, shift = detail::shift_of(largest);
    // Keeps a NaN in either sum.
    T const left = a.largest == largest ? a.sum : a.sum * engine::exp(a.largest - shift);
    T const right = b.largest == largest ? b.sum : b.sum * engine::exp(b.largest - shift);
    return {largest, left + right};
  }

  static exp_sum of_run(T const* x, std::int64_t n) {
    T const largest = detail::largest_of_run(x, n), shift = detail::shift_of(largest);
    return {largest, detail::sum_of_exp(x, n, shift)};
  }

  /// `keep(k)` returns the place for the exponentials of row k of the panel.
  template <class Keep>
  static void of_panel(T const* x, std::int64_t n, std::int64_t step, std::int64_t width, exp_sum* to,
                       Keep const& keep) {
    T largest[widest_panel], shift[widest_panel], sum[widest_panel];
    for (std::int64_t i = 0; i < width; ++i) largest[i] = detail::minus_infinity<T>;
    for (std::int64_t k = 0; k < n; ++k) {
      for_each_independent(
          width, [&](std::int64_t i) { largest[i] = largest[i] < x[k * step + i] ? x[k * step + i] : largest[i]; });
    }
    for (std::int64_t i = 0; i < width; ++i) {
      shift[i] = detail::shift_of(largest[i]);
      sum[i] = 0;
    }
    for (std::int64_t k = 0; k < n; ++k) {
      T* __restrict const e = keep(k);
      for_each_independent(width, [&](std::int64_t i) {
        e[i] = engine::exp(x[k * step + i] - shift[i]);
        sum[i] += e[i];
      });
    }
    for (std::int64_t i = 0; i < width; ++i) to[i] = {largest[i], sum[i]};
  }
  static void of_panel(T const* x, std::int64_t n, std::int64_t step, std::int64_t width, exp_sum* to) {
    T forgotten[widest_panel];
    of_panel(x, n, step, width, to, [&forgotten](std::int64_t) { return forgotten; });
  }

  template <class Element>
  KOKKOS_INLINE_FUNCTION static exp_sum of_elements(std::int64_t n, Element const& x) {
    exp_sum s;
    for (std::int64_t k = 0; k < n; ++k) s.largest = s.largest < x(k) ? x(k) : s.largest;
    T const shift = detail::shift_of(s.largest);
    for (std::int64_t k = 0; k < n; ++k) s.sum += engine::exp(x(k) - shift);
    return s;
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION T shift() const { return detail::shift_of(largest); }
  /// Returns log Σ exp(x).
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T log_of_all() const { return shift() + engine::log(sum); }
  /// Returns the divisor of softmax: NaN if the largest element is ∞.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T divisor() const {
    return largest == -detail::minus_infinity<T> ? -detail::minus_infinity<T> - largest : sum;
  }
};

/// The sum of the squares.
template <class T>
struct square_sum {
  using number = T;
  static constexpr int numbers = 1;

  T sum = 0;

  KOKKOS_INLINE_FUNCTION static square_sum merge(square_sum const& a, square_sum const& b, std::int64_t, std::int64_t) {
    return {a.sum + b.sum};
  }

  static square_sum of_run(T const* x, std::int64_t n) {
    return {detail::sum_of_run<true, T>(n, [=](std::int64_t k) { return x[k] * x[k]; })};
  }

  static void of_panel(T const* x, std::int64_t n, std::int64_t step, std::int64_t width, square_sum* to) {
    T sum[widest_panel];
    for (std::int64_t i = 0; i < width; ++i) sum[i] = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      for_each_independent(width, [&](std::int64_t i) { sum[i] += x[k * step + i] * x[k * step + i]; });
    }
    for (std::int64_t i = 0; i < width; ++i) to[i] = {sum[i]};
  }

  template <class Element>
  KOKKOS_INLINE_FUNCTION static square_sum of_elements(std::int64_t n, Element const& x) {
    square_sum s;
    for (std::int64_t k = 0; k < n; ++k) s.sum += x(k) * x(k);
    return s;
  }
};

/// True if merge() needs the numbers of elements of both parts.
template <class Statistic>
inline constexpr bool weighs_parts = false;

/// The mean, and the sum of the squared deviations from it. Deviations of a row are taken from its first element, and
/// the remainder of their sum corrects both. If that element is far from the mean, a second pass takes them from the
/// computed mean.
template <class T>
struct mean_and_deviations {
  using number = T;
  static constexpr int numbers = 2;

  T mean = 0;
  T deviations = 0;

  KOKKOS_INLINE_FUNCTION static mean_and_deviations merge(mean_and_deviations const& a, mean_and_deviations const& b,
                                                          std::int64_t of_a, std::int64_t of_b) {
    if (of_b == 0) return a;
    if (of_a == 0) return b;
    T const apart = b.mean - a.mean, share = T(of_b) / T(of_a + of_b);
    return {a.mean + apart * share, a.deviations + b.deviations + apart * apart * (share * T(of_a))};
  }

  KOKKOS_INLINE_FUNCTION static mean_and_deviations corrected(T mean, T rest, T squares, std::int64_t n) {
    T const more = rest / T(n), deviations = squares - rest * more;
    return {mean + more, deviations < T(0) ? T(0) : deviations};  // NaN stays
  }

  static mean_and_deviations of_run(T const* x, std::int64_t n) {
    if (n == 0) return {};
    constexpr int lanes = 2 * detail::fold_lanes;
    T shift = x[0];
    for (int look = 0;; ++look) {
      T side[lanes] = {}, square[lanes] = {}, rest = 0, squares = 0;
      std::int64_t k = 0;
      for (; k + lanes <= n; k += lanes)
        for (int l = 0; l < lanes; ++l) {
          T const d = x[k + l] - shift;
          side[l] += d;
          square[l] += d * d;
        }
      for (; k < n; ++k) {
        rest += x[k] - shift;
        squares += (x[k] - shift) * (x[k] - shift);
      }
      rest += detail::sum_of_lanes<lanes>(side);
      squares += detail::sum_of_lanes<lanes>(square);
      // At most two bits are lost. If both are infinite, the second pass has smaller squares, or a NaN.
      if (look == 1 || rest * (rest / T(n)) < T(0.75) * squares || squares == T(0))
        return corrected(shift, rest, squares, n);
      shift += rest / T(n);
    }
  }

  static void of_panel(T const* x, std::int64_t n, std::int64_t step, std::int64_t width, mean_and_deviations* to) {
    T mean[widest_panel], rest[widest_panel], squares[widest_panel];
    for (std::int64_t i = 0; i < width; ++i) mean[i] = rest[i] = squares[i] = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      for_each_independent(width, [&](std::int64_t i) { mean[i] += x[k * step + i]; });
    }
    for (std::int64_t i = 0; i < width; ++i) mean[i] /= T(n);
    for (std::int64_t k = 0; k < n; ++k) {
      for_each_independent(width, [&](std::int64_t i) {
        T const d = x[k * step + i] - mean[i];
        rest[i] += d;
        squares[i] += d * d;
      });
    }
    for (std::int64_t i = 0; i < width; ++i)
      to[i] = n > 0 ? corrected(mean[i], rest[i], squares[i], n) : mean_and_deviations{};
  }

  template <class Element>
  KOKKOS_INLINE_FUNCTION static mean_and_deviations of_elements(std::int64_t n, Element const& x) {
    if (n == 0) return {};
    T sum = 0, rest = 0, squares = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += x(k);
    T const mean = sum / T(n);
    for (std::int64_t k = 0; k < n; ++k) {
      rest += x(k) - mean;
      squares += (x(k) - mean) * (x(k) - mean);
    }
    return corrected(mean, rest, squares, n);
  }
};
template <class T>
inline constexpr bool weighs_parts<mean_and_deviations<T>> = true;

}  // namespace ostraka::engine
