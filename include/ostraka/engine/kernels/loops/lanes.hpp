// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Adds independent sums by halves, since additions one after the other would wait for each other. Compilers
/// turn such short loops into more scalar additions than the sums have vectors, so the halves are added as vectors,
/// which GCC and clang support on all processors.

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ostraka::engine::detail {

/// x[0] + … + x[Lanes - 1]. @pre Lanes is a power of two
template <int Lanes, class T>
[[gnu::always_inline]] inline T sum_of_lanes(T const* x) {
  if constexpr (Lanes == 1) {
    return *x;
  } else {
    constexpr int half = Lanes / 2;
    T sums[half];
#if defined(__GNUC__) && !defined(__CUDACC__)
    if constexpr (std::is_arithmetic_v<T> && sizeof(T) <= 8) {
      typedef T vector __attribute__((vector_size(half * sizeof(T))));
      vector low, high;
      std::memcpy(&low, x, sizeof low);
      std::memcpy(&high, x + half, sizeof high);
      low += high;
      std::memcpy(sums, &low, sizeof low);
      return sum_of_lanes<half>(sums);
    }
#endif
    for (int l = 0; l < half; ++l) sums[l] = x[l] + x[half + l];
    return sum_of_lanes<half>(sums);
  }
}

/// sum + the sum over begin <= r < end of term(r), one term after the other, for the rest of a run. All sums that
/// promise the same bits call it, because compilers fuse a multiplication and an addition in some loops and not in
/// others. On a Zen, g++ does not fuse if it sees that each addition waits for the previous one; here it does not see
/// that.
template <class T, class Term>
[[gnu::always_inline]] inline T add_in_turn(T sum, std::int64_t begin, std::int64_t end, Term const& term) {
  for (std::int64_t r = begin; r < end; ++r) {
    sum += term(r);
    // otherwise compilers make vectors of a few elements, and scalars of these
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      asm("" : "+r"(r), "+x"(sum));
    else
#endif
      asm("" : "+r"(r));
  }
  return sum;
}

}  // namespace ostraka::engine::detail
