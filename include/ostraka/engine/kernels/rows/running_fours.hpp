// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Running sums by fours: the sums of four neighbours wait for nobody, and only the sum of all four waits for
/// the one before it. Numbers of 32 bits are added in a register: to each its neighbour, and then the sum of the two
/// before these (Hillis and Steele, 1986). Nothing is stored between.

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/combine.hpp>

#if defined(__has_builtin) && !defined(__CUDACC__) && !defined(__HIPCC__)
#  if __has_builtin(__builtin_shufflevector)
#    define OSTRAKA_DETAIL_SHUFFLES 1
#  endif
#endif

namespace ostraka::engine {

/// How a running sum goes.
struct scan_direction {
  bool exclusive = false;  ///< y[k] is the sum of those before x[k]
  bool reverse = false;    ///< from the last to the first
};

namespace detail {

/// Adds up as many whole fours as there are, and counts their elements: none where compilers have no such vectors.
template <bool Writes, class T>
std::int64_t run_in_registers([[maybe_unused]] T const* x, [[maybe_unused]] T* y, [[maybe_unused]] std::int64_t n,
                              [[maybe_unused]] scan_direction direction, [[maybe_unused]] T s,
                              [[maybe_unused]] T& total) {
  std::int64_t k = 0;
#ifdef OSTRAKA_DETAIL_SHUFFLES
  typedef T vector __attribute__((vector_size(16)));
  vector const none{}, before = none + s;
  vector all = none + total;
  for (; k + 4 <= n; k += 4) {
    std::int64_t const at = direction.reverse ? n - 4 - k : k;
    vector sums;
    __builtin_memcpy(&sums, x + at, sizeof sums);
    if (direction.reverse) sums = __builtin_shufflevector(sums, sums, 3, 2, 1, 0);
    sums += __builtin_shufflevector(none, sums, 3, 4, 5, 6);
    sums += __builtin_shufflevector(none, sums, 2, 3, 4, 5);
    if (Writes) {
      vector result = before + (all + (direction.exclusive ? __builtin_shufflevector(none, sums, 3, 4, 5, 6) : sums));
      if (direction.reverse) result = __builtin_shufflevector(result, result, 3, 2, 1, 0);
      __builtin_memcpy(y + at, &result, sizeof result);
    }
    all += __builtin_shufflevector(sums, sums, 3, 3, 3, 3);
  }
  total = all[0];
#endif
  return k;
}

/// y[k] <- s + total + x[0] + … + x[k] for k < n, if it writes, and then total <- total + x[0] + … + x[n − 1].
/// Exclusive: without x[k]; reversed: from the last one on. y may be x.
template <reduction How, bool Writes, class T>
void run_by_fours(T const* x, T* y, std::int64_t n, scan_direction direction, T s, T& total) {
  std::int64_t k = 0;
  if constexpr (How == reduction::sum && std::is_arithmetic_v<T> && sizeof(T) == 4)
    k = run_in_registers<Writes>(x, y, n, direction, s, total);
  std::int64_t const step = direction.reverse ? -1 : 1, first = direction.reverse ? n - 1 : 0;
  int const own = direction.exclusive ? 0 : 1;
  for (; k + 4 <= n; k += 4) {
    std::int64_t const at = first + k * step;
    T part = x[at], all[5] = {total, combine(How, total, part)};
    for (int j = 1; j < 4; ++j) {
      part = combine(How, part, x[at + j * step]);
      all[j + 1] = combine(How, total, part);
    }
    if (Writes)
      for (int j = 0; j < 4; ++j) y[at + j * step] = combine(How, s, all[j + own]);
    total = all[4];
  }
  for (; k < n; ++k) {
    std::int64_t const at = first + k * step;
    T const before = total;
    total = combine(How, total, x[at]);
    if (Writes) y[at] = combine(How, s, direction.exclusive ? before : total);
  }
}

}  // namespace detail

}  // namespace ostraka::engine

#undef OSTRAKA_DETAIL_SHUFFLES
