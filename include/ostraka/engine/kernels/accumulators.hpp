// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What a row of elements is reduced to where one number of the elements' type does not say it: the largest
/// element and where it stands, mean and squared deviations, the sum of squares, how many are not zero. An accumulator
/// has a `state`, and takes elements along a row, across rows that lie side by side, or one at a time; states of parts
/// are combined. accumulate.hpp walks a block with it.
///
///     start()                              the state of no elements
///     along(state, x, n, index)            x[0], …, x[n − 1], whose indices are index, index + 1, …
///     across(row, x, n, index, first)      x[i] belongs to row i, i < n ≤ width; all have this index; `first`: the
///                                          row has nothing yet
///     at(row, i)                           the state of row i
///     take(state, x, index)                one element, on a device
///     combined(earlier, later)             the state of both

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/portable/vectors.hpp>

namespace ostraka::engine {

/// Rows that an accumulator takes together.
inline constexpr std::int64_t accumulated_rows = 256;

/// Elements that it takes along a row at a time, so that a second look at them finds them in the cache.
inline constexpr std::int64_t accumulated_run = 1024;

// ---- the largest or smallest, and where it stands ------------------------------------------------------------------

/// An element and its index, in words of 32 bits: with a float 12 bytes.
template <class T>
struct indexed {
  T value;
  std::uint32_t low;
  std::uint32_t high;

  static constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();

  KOKKOS_INLINE_FUNCTION static indexed of(T const& value, std::int64_t index) {
    auto const bits = static_cast<std::uint64_t>(index);
    return {value, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t index() const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(high) << 32 | low);
  }
};

/// The element that is furthest up (How = max) or down (min), the first of equal ones; a NaN is further than all
/// numbers. 16 bits are looked at as floats.
template <reduction How, class Element>
struct extreme_element {
  using element = Element;
  using value =
      std::conditional_t<std::is_integral_v<Element> && sizeof(Element) < 4, std::int32_t, accumulator_of_t<Element>>;
  using state = indexed<value>;
  struct row {
    value best[accumulated_rows];
    std::int64_t index[accumulated_rows];
  };

  KOKKOS_INLINE_FUNCTION static state start() { return state::of(value(0), state::nowhere); }

  /// Is b further than a?
  KOKKOS_INLINE_FUNCTION static bool is_further(value a, value b) {
    bool const beyond = How == reduction::max ? b > a : b < a;
    return static_cast<bool>(static_cast<int>(a == a) & (static_cast<int>(b != b) | static_cast<int>(beyond)));
  }

  KOKKOS_INLINE_FUNCTION static void take(state& s, element const& x, std::int64_t index) {
    if (s.index() == state::nowhere || is_further(s.value, value(x))) s = state::of(value(x), index);
  }

  KOKKOS_INLINE_FUNCTION static state combined(state const& a, state const& b) {
    if (a.index() == state::nowhere) return b;
    if (b.index() == state::nowhere || is_further(b.value, a.value)) return a;
    if (is_further(a.value, b.value)) return b;
    return a.index() < b.index() ? a : b;
  }

  // The extreme of a run is found first, and where it stands only if it is further than what was known.
  static void along(state& s, element const* x, std::int64_t n, std::int64_t index) {
    if (n == 0) return;
    if (s.index() == state::nowhere) s = state::of(value(x[0]), index);
    for (std::int64_t begin = 0; begin < n; begin += accumulated_run) {
      if (s.value != s.value) return;
      std::int64_t const count = n - begin < accumulated_run ? n - begin : accumulated_run;
      value const best = furthest(x + begin, count);
      if (!is_further(s.value, best)) continue;
      std::int64_t k = begin;
      while (best == best ? value(x[k]) != best : value(x[k]) == value(x[k])) ++k;
      s = state::of(best, index + k);
    }
  }

  static void across(row& r, element const* x, std::int64_t n, std::int64_t index, bool first) {
    if (first) {
      for (std::int64_t i = 0; i < n; ++i) r.best[i] = value(x[i]), r.index[i] = index;
      return;
    }
    detail::with_wide_vectors([&r, x, n, index] {
      for (std::int64_t i = 0; i < n; ++i) {
        value const v = value(x[i]);
        bool const further = is_further(r.best[i], v);
        r.best[i] = further ? v : r.best[i];
        r.index[i] = further ? index : r.index[i];
      }
    });
  }
  static state at(row const& r, std::int64_t i) { return state::of(r.best[i], r.index[i]); }

 private:
  static value furthest(element const* x, std::int64_t n) {
    constexpr int lanes = 64;
    value best[lanes];
    std::int64_t const whole = n / lanes * lanes;
    value of_all = value(x[0]);
    if (whole > 0) {
      for (int l = 0; l < lanes; ++l) best[l] = value(x[l]);
      detail::with_wide_vectors([&best, x, whole] {
        for (std::int64_t k = lanes; k < whole; k += lanes)
          for (int l = 0; l < lanes; ++l) best[l] = is_further(best[l], value(x[k + l])) ? value(x[k + l]) : best[l];
      });
      for (int l = 0; l < lanes; ++l) of_all = is_further(of_all, best[l]) ? best[l] : of_all;
    }
    for (std::int64_t k = whole; k < n; ++k) of_all = is_further(of_all, value(x[k])) ? value(x[k]) : of_all;
    return of_all;
  }
};

// ---- mean and squared deviations -----------------------------------------------------------------------------------

namespace detail {

/// What sums over many elements are kept in, so that neither their number nor their size is lost.
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

/// How many elements, their mean as the sum of a number and what rounding left of it, and Σ|x − mean|².
template <class Sum>
struct moments {
  double count;
  Sum mean;
  Sum low;
  double squares;
};

/// In double, whatever the elements are. Of a run the mean is found first and the deviations from it in a second look,
/// with what rounding left of their sum taken off (the corrected two-pass algorithm: Chan, Golub and LeVeque 1983,
/// "Algorithms for computing the sample variance"); runs and parts are merged by the same authors' formula. The means
/// keep their low digits, so that one that is large beside the deviations costs none of theirs.
template <class Element>
struct moments_of {
  using element = Element;
  using sum = detail::wide_sum_of<Element>;
  using state = moments<sum>;
  struct row {
    sum shift[accumulated_rows];  // the first element
    sum mean[accumulated_rows];   // beyond it
    double squares[accumulated_rows];
    double count;
  };

  KOKKOS_INLINE_FUNCTION static state start() { return {0, sum(0), sum(0), 0}; }

  KOKKOS_INLINE_FUNCTION static void take(state& s, element const& x, std::int64_t) {
    s = combined(s, state{1, detail::widened(x), sum(0), 0});
  }

  KOKKOS_INLINE_FUNCTION static state combined(state const& a, state const& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    double const n = a.count + b.count, share = b.count / n;
    sum const d = (b.mean - a.mean) + (b.low - a.low);
    sum const up = a.low + d * share, mean = a.mean + up, added = mean - a.mean;
    sum const low = (a.mean - (mean - added)) + (up - added);  // what rounding left of a.mean + up (Knuth's TwoSum)
    return {n, mean, low, a.squares + b.squares + detail::real_product(d, d) * (a.count * share)};
  }

  static void along(state& s, element const* x, std::int64_t n, std::int64_t) {
    for (std::int64_t begin = 0; begin < n; begin += accumulated_run)
      s = combined(s, of_run(x + begin, n - begin < accumulated_run ? n - begin : accumulated_run));
  }

  static void across(row& r, element const* x, std::int64_t n, std::int64_t, bool first) {
    if (first) {
      r.count = 1;
      for (std::int64_t i = 0; i < n; ++i) r.shift[i] = detail::widened(x[i]), r.mean[i] = sum(0), r.squares[i] = 0;
      return;
    }
    r.count += 1;
    double const share = 1 / r.count;
    detail::with_wide_vectors([&r, x, n, share] {
      for (std::int64_t i = 0; i < n; ++i) {
        sum const v = detail::widened(x[i]) - r.shift[i], d = v - r.mean[i];
        r.mean[i] += d * share;
        r.squares[i] += detail::real_product(d, v - r.mean[i]);
      }
    });
  }
  static state at(row const& r, std::int64_t i) { return {r.count, r.shift[i], r.mean[i], r.squares[i]}; }

 private:
  static constexpr int lanes = 32;

  static state of_run(element const* x, std::int64_t n) {
    sum total(0), rest(0);
    double squares = 0;
    auto const count = static_cast<double>(n);
    detail::with_wide_vectors([&total, x, n] {
      sum part[lanes] = {};
      std::int64_t k = 0;
      for (; k + lanes <= n; k += lanes)
        for (int l = 0; l < lanes; ++l) part[l] += detail::widened(x[k + l]);
      for (; k < n; ++k) total += detail::widened(x[k]);
      for (int l = 0; l < lanes; ++l) total += part[l];
    });
    sum const mean = total * (1 / count);
    detail::with_wide_vectors([&rest, &squares, mean, x, n] {
      sum part[lanes] = {};
      double square[lanes] = {};
      std::int64_t k = 0;
      for (; k + lanes <= n; k += lanes)
        for (int l = 0; l < lanes; ++l) {
          sum const d = detail::widened(x[k + l]) - mean;
          part[l] += d;
          square[l] += detail::real_product(d, d);
        }
      for (; k < n; ++k) {
        sum const d = detail::widened(x[k]) - mean;
        rest += d;
        squares += detail::real_product(d, d);
      }
      for (int l = 0; l < lanes; ++l) rest += part[l], squares += square[l];
    });
    double const left = squares - detail::real_product(rest, rest) / count;
    return {count, mean, rest * (1 / count), left < 0 ? 0 : left};
  }
};

// ---- sums of numbers that elements give ----------------------------------------------------------------------------

/// Σ|x|² in double, where squares of floats neither overflow nor vanish.
struct square_of {
  using sum = double;
  template <class T>
  KOKKOS_INLINE_FUNCTION static double term(T const& x) {
    auto const v = detail::widened(x);
    return detail::real_product(v, v);
  }
};

/// How many are not zero; a NaN is not.
struct one_if_nonzero {
  using sum = std::int64_t;
  template <class T>
  KOKKOS_INLINE_FUNCTION static std::int64_t term(T const& x) {
    return accumulator_of_t<T>(x) != accumulator_of_t<T>(0) ? 1 : 0;
  }
};

template <class Term, class Element>
struct sum_of {
  using element = Element;
  using state = typename Term::sum;
  struct row {
    state sums[accumulated_rows];
  };

  KOKKOS_INLINE_FUNCTION static state start() { return state(0); }
  KOKKOS_INLINE_FUNCTION static void take(state& s, element const& x, std::int64_t) { s += Term::term(x); }
  KOKKOS_INLINE_FUNCTION static state combined(state const& a, state const& b) { return a + b; }

  static void along(state& s, element const* x, std::int64_t n, std::int64_t) {
    constexpr int lanes = 32;
    detail::with_wide_vectors([&s, x, n] {
      state part[lanes] = {};
      std::int64_t k = 0;
      for (; k + lanes <= n; k += lanes)
        for (int l = 0; l < lanes; ++l) part[l] += Term::term(x[k + l]);
      for (; k < n; ++k) s += Term::term(x[k]);
      state all(0);
      for (int l = 0; l < lanes; ++l) all += part[l];
      s += all;
    });
  }

  static void across(row& r, element const* x, std::int64_t n, std::int64_t, bool first) {
    if (first)
      for (std::int64_t i = 0; i < n; ++i) r.sums[i] = 0;
    detail::with_wide_vectors([&r, x, n] {
      for (std::int64_t i = 0; i < n; ++i) r.sums[i] += Term::term(x[i]);
    });
  }
  static state at(row const& r, std::int64_t i) { return r.sums[i]; }
};

}  // namespace ostraka::engine
