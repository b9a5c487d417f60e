// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. An accumulator (accumulator.hpp): the largest or smallest element of a row, and its index.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

#include <ostraka/engine/kernels/accumulators/accumulator.hpp>
#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/loops/independent.hpp>

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

/// The largest (How = max) or smallest (min) element, and the first of equal elements; a NaN is beyond all numbers.
/// 16-bit elements are compared as floats.
template <reduction How, class Element>
struct extreme_element {
  using element = Element;
  using value =
      std::conditional_t<std::is_integral_v<Element> && sizeof(Element) < 4, std::int32_t, accumulator_of_t<Element>>;
  using state = indexed<value>;
  // The type of the step of the best element so far. It has the width of a value, so that both vectorise alike.
  using step = std::conditional_t<sizeof(value) == 4, std::int32_t, std::int64_t>;
  struct row {
    value best[accumulated_rows<Element>];
    step at[accumulated_rows<Element>];
  };

  KOKKOS_INLINE_FUNCTION static state start() { return state::of(value(0), state::nowhere); }

  /// True if b is beyond a.
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

  // Takes whole vectors of lanes, each with its step. A last vector covers the end of the row, with some elements a
  // second time.
  static void along(state& s, element const* x, std::int64_t n, std::int64_t index, std::int64_t index_step) {
    constexpr int lanes = accumulated_lanes;
    if (n < lanes) {
      for (std::int64_t k = 0; k < n; ++k) take(s, x[k], index + k * index_step);
      return;
    }
    value best[lanes];
    step at[lanes];
    for (int l = 0; l < lanes; ++l) best[l] = value(x[l]), at[l] = step(l);
    for (std::int64_t k = lanes; k < n; k += lanes) {
      if (k > n - lanes) k = n - lanes;
      for (int l = 0; l < lanes; ++l) {
        value const v = value(x[k + l]);
        bool const is_better = is_further(best[l], v);
        best[l] = is_better ? v : best[l];
        at[l] = is_better ? static_cast<step>(k) + step(l) : at[l];
      }
    }
    value furthest[lanes];
    for (int l = 0; l < lanes; ++l) furthest[l] = best[l];
    reduce_by_halves<lanes / 2>(furthest);
    constexpr step none = std::numeric_limits<step>::max();
    step first = none;
    for (int l = 0; l < lanes; ++l) {
      step const here = at[l] | (none & -static_cast<step>(is_further(best[l], furthest[0])));
      first = here < first ? here : first;
    }
    take(s, x[first], index + first * index_step);
  }

  template <int Steps>
  static void across(row& r, std::int64_t first, element const* x, std::int64_t next, std::int64_t n,
                     std::int64_t steps) {
    value* __restrict const best = r.best + first;
    step* __restrict const at = r.at + first;
    element const* __restrict const from = x;
    if (steps == 0)
      for (std::int64_t i = 0; i < n; ++i) best[i] = value(from[i]), at[i] = 0;
    for (int k = 0; k < Steps; ++k) {
      step const now = static_cast<step>(steps) + step(k);
      for_each_independent(n, [=](std::int64_t i) {
        value const v = value(from[k * next + i]), b = best[i];
        step const a = at[i];
        bool const is_better = is_further(b, v);
        best[i] = is_better ? v : b;
        at[i] = is_better ? now : a;
      });
    }
  }
  template <class IndexOf>
  static state at(row const& r, std::int64_t i, IndexOf const& index_of) {
    return state::of(r.best[i], index_of(r.at[i]));
  }

 private:
  // Uses masks, since compilers turn selections into branches.
  template <int Half>
  static void reduce_by_halves(value* of) {
    _Pragma("GCC unroll 1") for (int l = 0; l < Half; ++l) {
      step const other = -static_cast<step>(is_further(of[l], of[Half + l]));
      of[l] = __builtin_bit_cast(value, (__builtin_bit_cast(step, of[Half + l]) & other) |
                                            (__builtin_bit_cast(step, of[l]) & ~other));
    }
    if constexpr (Half > 1) reduce_by_halves<Half / 2>(of);
  }
};

}  // namespace ostraka::engine
