// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. An accumulator (accumulator.hpp): the largest or smallest element of a row, and where it stands.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

#include <ostraka/engine/kernels/accumulators/accumulator.hpp>
#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>

namespace ostraka::engine {

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

}  // namespace ostraka::engine
