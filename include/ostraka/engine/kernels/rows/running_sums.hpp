// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Running sums (maxima, minima, products) by groups of neighbours. The sums within a group depend on no other
/// group, and only the total of a group waits for the previous group. A group fills a register: it adds to each element
/// its neighbour, then the sum of the two elements before these, and so on (Hillis and Steele, 1986). Types without
/// such vectors use groups of four. No intermediate result is stored.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/kernels/combine.hpp>

#if defined(__has_builtin) && !defined(__CUDACC__) && !defined(__HIPCC__)
#  if __has_builtin(__builtin_shufflevector)
#    define OSTRAKA_DETAIL_SHUFFLES 1
#  endif
#endif

namespace ostraka::engine {

/// The direction of a running sum.
struct scan_direction {
  bool exclusive = false;  ///< y[k] is the sum of the elements before x[k]
  bool reverse = false;    ///< from the last to the first
};

namespace detail {

#ifdef OSTRAKA_DETAIL_SHUFFLES

/// True if running sums are computed in registers. Groups of two would not speed up 64-bit sums.
template <reduction How, class T>
inline constexpr bool runs_in_registers = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> &&
                                          (How == reduction::max || How == reduction::min ||
                                           (How == reduction::sum && sizeof(T) <= 4));

/// A register of neighbours.
template <reduction How, class T>
struct neighbours {
  static constexpr int lanes = 16 / static_cast<int>(sizeof(T));
  typedef T vector __attribute__((vector_size(16)));

  template <int... k>
  [[gnu::always_inline]] static inline vector reversed(vector v, std::integer_sequence<int, k...>) {
    return __builtin_shufflevector(v, v, (lanes - 1 - k)...);
  }
  template <int... k>
  [[gnu::always_inline]] static inline vector last_of(vector v, std::integer_sequence<int, k...>) {
    return __builtin_shufflevector(v, v, (lanes - 1 + 0 * k)...);
  }
  // Shifts by `by` lanes; the first lanes get the identity.
  template <int by, int... k>
  [[gnu::always_inline]] static inline vector shifted(vector none, vector v, std::integer_sequence<int, k...>) {
    return __builtin_shufflevector(none, v, (lanes - by + k)...);
  }
  // The same as combine().
  [[gnu::always_inline]] static inline vector both(vector x, vector y) {
    if constexpr (How == reduction::max)
      return ((y > x) | (y != y)) ? y : x;
    else if constexpr (How == reduction::min)
      return ((y < x) | (y != y)) ? y : x;
    else
      return x + y;
  }
};

#endif

/// run_sums() in one direction.
template <reduction How, bool Writes, bool Exclusive, bool Reverse, class T>
void run_one_way(T const* x, T* y, std::int64_t n, T s, T& total) {
  T before = total;  // the total before the next elements
  std::int64_t k = 0;
#ifdef OSTRAKA_DETAIL_SHUFFLES
  if constexpr (runs_in_registers<How, T>) {
    using group = neighbours<How, T>;
    using vector = typename group::vector;
    constexpr auto each = std::make_integer_sequence<int, group::lanes>();
    vector const zeros{}, none = zeros + identity<T>(How), at_first = zeros + s;
    vector all = zeros + before;
    for (; k + group::lanes <= n; k += group::lanes) {
      std::int64_t const at = Reverse ? n - group::lanes - k : k;
      vector sums;
      __builtin_memcpy(&sums, x + at, sizeof sums);
      if constexpr (Reverse) sums = group::reversed(sums, each);
      sums = group::both(group::template shifted<1>(none, sums, each), sums);
      if constexpr (group::lanes > 2) sums = group::both(group::template shifted<2>(none, sums, each), sums);
      if constexpr (group::lanes > 4) sums = group::both(group::template shifted<4>(none, sums, each), sums);
      if constexpr (group::lanes > 8) sums = group::both(group::template shifted<8>(none, sums, each), sums);
      if constexpr (Writes) {
        vector const own = Exclusive ? group::template shifted<1>(none, sums, each) : sums;
        vector result = group::both(at_first, group::both(all, own));
        if constexpr (Reverse) result = group::reversed(result, each);
        __builtin_memcpy(y + at, &result, sizeof result);
      }
      all = group::both(all, group::last_of(sums, each));
    }
    before = all[0];
  }
#endif
  constexpr std::int64_t step = Reverse ? -1 : 1;
  std::int64_t const first = Reverse ? n - 1 : 0;
  for (; k + 4 <= n; k += 4) {
    T const* const from = x + first + k * step;
    T const a = from[0], b = combine(How, a, from[step]), c = combine(How, b, from[2 * step]),
            d = combine(How, c, from[3 * step]);
    T const to_a = combine(How, before, a), to_b = combine(How, before, b), to_c = combine(How, before, c),
            to_d = combine(How, before, d);
    if constexpr (Writes) {
      T* const to = y + first + k * step;
      to[0] = combine(How, s, Exclusive ? before : to_a);
      to[step] = combine(How, s, Exclusive ? to_a : to_b);
      to[2 * step] = combine(How, s, Exclusive ? to_b : to_c);
      to[3 * step] = combine(How, s, Exclusive ? to_c : to_d);
    }
    before = to_d;
  }
  for (; k < n; ++k) {
    std::int64_t const at = first + k * step;
    T const to_this = combine(How, before, x[at]);
    if constexpr (Writes) y[at] = combine(How, s, Exclusive ? before : to_this);
    before = to_this;
  }
  total = before;
}

/// y[k] <- s + total + x[0] + … + x[k] for k < n, if it writes; then total <- total + x[0] + … + x[n − 1]. Exclusive:
/// without x[k]; reversed: from the last one on. y may be x.
template <reduction How, bool Writes, class T>
void run_sums(T const* x, T* y, std::int64_t n, scan_direction direction, T s, T& total) {
  if (direction.exclusive)
    direction.reverse ? run_one_way<How, Writes, true, true>(x, y, n, s, total)
                      : run_one_way<How, Writes, true, false>(x, y, n, s, total);
  else
    direction.reverse ? run_one_way<How, Writes, false, true>(x, y, n, s, total)
                      : run_one_way<How, Writes, false, false>(x, y, n, s, total);
}

}  // namespace detail

}  // namespace ostraka::engine

#undef OSTRAKA_DETAIL_SHUFFLES
