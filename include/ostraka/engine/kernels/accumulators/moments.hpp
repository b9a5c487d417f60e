// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. An accumulator (accumulator.hpp): the number of elements of a row, their mean and squared deviations from
/// it.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

#include <ostraka/engine/kernels/accumulators/accumulator.hpp>
#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/lanes.hpp>

namespace ostraka::engine {

namespace detail {

/// The type of sums over many elements, which keeps both their number and their size.
template <class T>
struct wide_sum {
  using type = double;
};
template <class T>
struct wide_sum<Kokkos::complex<T>> {
  using type = Kokkos::complex<double>;
};
template <class T>
using wide_sum_of = typename wide_sum<T>::type;

KOKKOS_INLINE_FUNCTION double widened(double x) { return x; }
template <class T>
KOKKOS_INLINE_FUNCTION Kokkos::complex<double> widened(Kokkos::complex<T> const& x) {
  return {static_cast<double>(x.real()), static_cast<double>(x.imag())};
}

/// Re(x ȳ)
KOKKOS_INLINE_FUNCTION double real_product(double x, double y) { return x * y; }
KOKKOS_INLINE_FUNCTION double real_product(Kokkos::complex<double> const& x, Kokkos::complex<double> const& y) {
  return x.real() * y.real() + x.imag() * y.imag();
}

}  // namespace detail

/// The number of elements, their mean as the sum of a number and its rounding error, and Σ|x − mean|².
template <class Sum>
struct moments {
  double count;
  Sum mean;
  Sum low;
  double squares;
};

/// In double, whatever the elements are. Deviations of a run are taken from its first element, and the remainder of
/// their sum corrects them. If that element is far from the mean, a second pass takes them from the computed mean (the
/// corrected two-pass algorithm: Chan, Golub and LeVeque 1983, "Algorithms for computing the sample variance"). Runs
/// and parts are merged by the same authors' formula. The means keep their low digits, so that a mean much larger than
/// the deviations costs no digits of the deviations.
template <class Element>
struct moments_of {
  using element = Element;
  using sum = detail::wide_sum_of<Element>;
  using state = moments<sum>;
  struct row {
    sum shift[accumulated_rows<Element>];  // the first element
    sum mean[accumulated_rows<Element>];   // beyond it
    double squares[accumulated_rows<Element>];
    double count;
  };

  KOKKOS_INLINE_FUNCTION static state start() { return {0, sum(0), sum(0), 0}; }

  KOKKOS_INLINE_FUNCTION static void take(state& s, element const& x, std::int64_t) {
    sum const one = detail::widened(x), none = one - one;  // NaN for an infinite element, which has no variance
    s = combined(s, state{1, one, sum(0), detail::real_product(none, none)});
  }

  KOKKOS_INLINE_FUNCTION static state combined(state const& a, state const& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    double const n = a.count + b.count, share = b.count / n;
    sum const d = (b.mean - a.mean) + (b.low - a.low);
    sum const up = a.low + d * share, mean = a.mean + up, added = mean - a.mean;
    sum const low = (a.mean - (mean - added)) + (up - added);  // the rounding error of a.mean + up (Knuth's TwoSum)
    return {n, mean, low, a.squares + b.squares + detail::real_product(d, d) * (a.count * share)};
  }

  static void along(state& s, element const* x, std::int64_t n, std::int64_t, std::int64_t) {
    for (std::int64_t begin = 0; begin < n; begin += accumulated_run)
      s = combined(s, of_run(x + begin, n - begin < accumulated_run ? n - begin : accumulated_run));
  }

  // Merges the moments of the steps, which stay in registers between the two passes, with those of the row.
  template <int Steps>
  static void across(row& r, std::int64_t first, element const* x, std::int64_t next, std::int64_t n,
                     std::int64_t steps) {
    if (steps == 0)
      for (std::int64_t i = first; i < first + n; ++i)
        r.shift[i] = detail::widened(x[i - first]), r.mean[i] = sum(0), r.squares[i] = 0;
    double const before = static_cast<double>(steps), share = Steps / (before + Steps), weight = before * share;
    r.count = before + Steps;
    sum const* __restrict const shift = r.shift + first;
    sum* __restrict const mean = r.mean + first;
    double* __restrict const squares = r.squares + first;
    element const* __restrict const from = x;
    for_each_independent(n, [=](std::int64_t i) {
      sum v[Steps], own(0);
      for (int k = 0; k < Steps; ++k) v[k] = detail::widened(from[k * next + i]) - shift[i], own += v[k];
      own = own * (1.0 / Steps);
      sum const d = own - mean[i];
      double deviations = detail::real_product(d, d) * weight;
      for (int k = 0; k < Steps; ++k) deviations += detail::real_product(v[k] - own, v[k] - own);
      mean[i] += d * share;
      squares[i] += deviations;
    });
  }
  template <class IndexOf>
  static state at(row const& r, std::int64_t i, IndexOf const&) {
    return {r.count, r.shift[i], r.mean[i], r.squares[i]};
  }

 private:
  static state of_run(element const* x, std::int64_t n) {
    constexpr int lanes = accumulated_lanes;
    double const count = static_cast<double>(n), share = 1 / count;
    sum shift = detail::widened(x[0]);
    for (int look = 0;; ++look) {
      sum part[lanes] = {}, rest(0);
      double square[lanes] = {}, squares = 0;
      std::int64_t k = 0;
      for (; k + lanes <= n; k += lanes)
        for (int l = 0; l < lanes; ++l) {
          sum const d = detail::widened(x[k + l]) - shift;
          part[l] += d;
          square[l] += detail::real_product(d, d);
        }
      for (; k < n; ++k) {
        sum const d = detail::widened(x[k]) - shift;
        rest += d;
        squares += detail::real_product(d, d);
      }
      rest += detail::sum_of_lanes<lanes>(part);
      squares += detail::sum_of_lanes<lanes>(square);
      double const of_mean = detail::real_product(rest, rest) * share, deviations = squares - of_mean;
      // At most two bits are lost. If both are infinite, the second pass tells large elements from infinite ones.
      if (look == 1 || of_mean < 0.75 * squares || squares == 0)
        return {count, shift, rest * share, deviations < 0 ? 0 : deviations};  // NaN stays
      shift += rest * share;
    }
  }
};

}  // namespace ostraka::engine
