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
///     across(row, x, n, steps)             x[i] belongs to row i, i < n ≤ accumulated_rows; there were so many before
///     at(row, i, index_of)                 the state of row i; index_of(steps) is the index that was taken then
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
inline constexpr std::int64_t accumulated_rows = 1024;

/// Elements that it takes along a row at a time, so that a second look at them finds them in the cache.
inline constexpr std::int64_t accumulated_run = 4096;

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
  // Of what is best so far the step is kept, as wide as the value, so that both go through vectors alike.
  using step = std::conditional_t<sizeof(value) == 4, std::int32_t, std::int64_t>;
  struct row {
    value best[accumulated_rows];
    step at[accumulated_rows];
  };

  KOKKOS_INLINE_FUNCTION static state start() { return state::of(value(0), state::nowhere); }

  /// Is b further than a?
  KOKKOS_INLINE_FUNCTION static bool is_further(value a, value b) {
    bool const beyond = How == reduction::max ? !(b <= a) : !(b >= a);  // or one of them is NaN
    return beyond & (a == a);
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
    if (n < few) {
      value best = s.value;
      std::int64_t at = -1;
      for (std::int64_t k = 0; k < n; ++k)
        if (is_further(best, value(x[k]))) best = value(x[k]), at = k;
      if (at >= 0) s = state::of(best, index + at);
      return;
    }
    for (std::int64_t begin = 0, count = 0; begin < n; begin += count) {
      if (s.value != s.value) return;
      count = n - begin < accumulated_run + few ? n - begin : accumulated_run;  // never fewer than few
      value const best = furthest(x + begin, count);
      if (is_further(s.value, best)) s = state::of(best, index + begin + place_of(best, x + begin, count));
    }
  }

  static void across(row& r, element const* x, std::int64_t n, std::int64_t steps) {
    if (steps == 0) {
      for (std::int64_t i = 0; i < n; ++i) r.best[i] = value(x[i]), r.at[i] = 0;
      return;
    }
    auto const now = static_cast<step>(steps);
    detail::with_wide_vectors([&r, x, n, now] {
      value* __restrict const best = r.best;  // local, so that what is stored is none of what the loop reads
      step* __restrict const at = r.at;
      element const* __restrict const from = x;
      step const then = now;
      for (std::int64_t i = 0, count = n; i < count; ++i) {
        value const v = value(from[i]), b = best[i];
        step const a = at[i];
        bool const is_better = is_further(b, v);
        best[i] = is_better ? v : b;
        at[i] = is_better ? then : a;
      }
    });
  }
  template <class IndexOf>
  static state at(row const& r, std::int64_t i, IndexOf const& index_of) {
    return state::of(r.best[i], index_of(r.at[i]));
  }

 private:
  static constexpr std::int64_t few = 128;  // elements of a run that are looked at one by one

  static bool is_beyond(value a, value b) { return How == reduction::max ? b > a : b < a; }

  // Where the first of them stands that is it. @pre there is one
  static std::int64_t place_of(value best, element const* x, std::int64_t n) {
    std::int64_t k = 0;
    if (best != best) {
      while (value(x[k]) == value(x[k])) ++k;
      return k;
    }
    detail::with_wide_vectors([&k, best, x, n] {
      constexpr std::int64_t together = 64;
      value const wanted = best;
      std::int64_t from = 0;
      for (; from + together <= n; from += together) {
        int found = 0;
        for (std::int64_t l = 0; l < together; ++l) found += value(x[from + l]) == wanted ? 1 : 0;
        if (found > 0) break;
      }
      k = from;
    });
    while (value(x[k]) != best) ++k;
    return k;
  }

  // A NaN, if there is one: it is looked for beside the extreme, so that both are plain comparisons. @pre n ≥ few
  static value furthest(element const* x, std::int64_t n) {
    value found = value(x[0]);
    detail::with_wide_vectors([&found, x, n] {
      constexpr int lanes = 64;
      static_assert(lanes <= few);
      value best[lanes], odd[lanes];
      for (int l = 0; l < lanes; ++l) best[l] = odd[l] = value(x[l]);
      std::int64_t k = lanes;
      for (; k + lanes <= n; k += lanes) look_at(best, odd, x + k);
      if (k < n) look_at(best, odd, x + n - lanes);  // some for the second time
      found = fold<lanes / 2>(best, odd);
    });
    return found;
  }

  template <int Lanes>
  static void look_at(value (&best)[Lanes], value (&odd)[Lanes], element const* x) {
    for (int l = 0; l < Lanes; ++l) {
      value const v = value(x[l]);
      best[l] = is_beyond(best[l], v) ? v : best[l];
      odd[l] = v != v ? v : odd[l];
    }
  }

  template <int Half>
  static value fold(value* best, value* odd) {
    for (int l = 0; l < Half; ++l) {
      best[l] = is_beyond(best[l], best[Half + l]) ? best[Half + l] : best[l];
      odd[l] = odd[Half + l] != odd[Half + l] ? odd[Half + l] : odd[l];
    }
    if constexpr (Half > 1)
      return fold<Half / 2>(best, odd);
    else
      return odd[0] != odd[0] ? odd[0] : best[0];
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

/// lanes[0] <- the sum of twice as many as Half; by halves, since one after the other they would wait for each other.
template <int Half, class T>
void sum_by_halves(T* lanes) {
  for (int l = 0; l < Half; ++l) lanes[l] += lanes[Half + l];
  if constexpr (Half > 1) sum_by_halves<Half / 2>(lanes);
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

  static void across(row& r, element const* x, std::int64_t n, std::int64_t steps) {
    if (steps == 0) {
      r.count = 1;
      for (std::int64_t i = 0; i < n; ++i) r.shift[i] = detail::widened(x[i]), r.mean[i] = sum(0), r.squares[i] = 0;
      return;
    }
    r.count += 1;
    double const share = 1 / r.count;
    detail::with_wide_vectors([&r, x, n, share] {
      sum const* __restrict const shift = r.shift;
      sum* __restrict const mean = r.mean;
      double* __restrict const squares = r.squares;
      element const* __restrict const from = x;
      double const part = share;
      for (std::int64_t i = 0, count = n; i < count; ++i) {
        sum const v = detail::widened(from[i]) - shift[i], d = v - mean[i], now = mean[i] + d * part;
        mean[i] = now;
        squares[i] += detail::real_product(d, v - now);
      }
    });
  }
  template <class IndexOf>
  static state at(row const& r, std::int64_t i, IndexOf const&) {
    return {r.count, r.shift[i], r.mean[i], r.squares[i]};
  }

 private:
  static state of_run(element const* x, std::int64_t n) {
    state s{static_cast<double>(n), sum(0), sum(0), 0};
    detail::with_wide_vectors([&s, x, n] {
      constexpr int lanes = 32;
      sum part[lanes] = {};
      std::int64_t k = 0;
      for (; k + lanes <= n; k += lanes)
        for (int l = 0; l < lanes; ++l) part[l] += detail::widened(x[k + l]);
      sum rest(0);
      for (; k < n; ++k) rest += detail::widened(x[k]);
      detail::sum_by_halves<lanes / 2>(part);
      sum const mean = (part[0] + rest) * (1 / s.count);
      double square[lanes] = {};
      for (int l = 0; l < lanes; ++l) part[l] = sum(0);
      for (k = 0; k + lanes <= n; k += lanes)
        for (int l = 0; l < lanes; ++l) {
          sum const d = detail::widened(x[k + l]) - mean;
          part[l] += d;
          square[l] += detail::real_product(d, d);
        }
      rest = sum(0);
      double squares = 0;
      for (; k < n; ++k) {
        sum const d = detail::widened(x[k]) - mean;
        rest += d;
        squares += detail::real_product(d, d);
      }
      detail::sum_by_halves<lanes / 2>(part);
      detail::sum_by_halves<lanes / 2>(square);
      rest += part[0];
      double const left = squares + square[0] - detail::real_product(rest, rest) / s.count;
      s.mean = mean;
      s.low = rest * (1 / s.count);
      s.squares = left < 0 ? 0 : left;
    });
    return s;
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
      state rest(0);
      for (; k < n; ++k) rest += Term::term(x[k]);
      detail::sum_by_halves<lanes / 2>(part);
      s += part[0] + rest;
    });
  }

  static void across(row& r, element const* x, std::int64_t n, std::int64_t steps) {
    if (steps == 0)
      for (std::int64_t i = 0; i < n; ++i) r.sums[i] = 0;
    detail::with_wide_vectors([&r, x, n] {
      state* __restrict const sums = r.sums;
      element const* __restrict const from = x;
      for (std::int64_t i = 0, count = n; i < count; ++i) sums[i] += Term::term(from[i]);
    });
  }
  template <class IndexOf>
  static state at(row const& r, std::int64_t i, IndexOf const&) {
    return r.sums[i];
  }
};

}  // namespace ostraka::engine
