// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Running sums of floats, four in a register: to each is added its neighbour, and then the sum of the two
/// before these (Hillis and Steele, 1986), and nothing is stored between.

#include <cstdint>

#if defined(__has_builtin) && !defined(__CUDACC__) && !defined(__HIPCC__)
#  if __has_builtin(__builtin_shufflevector)
#    define OSTRAKA_DETAIL_SHUFFLES 1
#  endif
#endif

namespace ostraka::engine::detail {

/// y[k] <- s + x[0] + … + x[k] of as many whole fours as there are, and s <- the last of these; their elements are
/// counted, none where compilers have no such vectors. Exclusive: without x[k]; reversed: from the last one on.
[[nodiscard]] inline std::int64_t run_fours([[maybe_unused]] float const* x, [[maybe_unused]] float* y,
                                            [[maybe_unused]] std::int64_t n, [[maybe_unused]] bool exclusive,
                                            [[maybe_unused]] bool reverse, [[maybe_unused]] float& s) {
  std::int64_t k = 0;
#ifdef OSTRAKA_DETAIL_SHUFFLES
  typedef float vector __attribute__((vector_size(16)));
  vector const none{};
  vector before = none + s;
  for (; k + 4 <= n; k += 4) {
    std::int64_t const at = reverse ? n - 4 - k : k;
    vector sums, result;
    __builtin_memcpy(&sums, x + at, sizeof sums);
    if (reverse) sums = __builtin_shufflevector(sums, sums, 3, 2, 1, 0);
    sums += __builtin_shufflevector(none, sums, 3, 4, 5, 6);
    sums += __builtin_shufflevector(none, sums, 2, 3, 4, 5);
    result = before + (exclusive ? __builtin_shufflevector(none, sums, 3, 4, 5, 6) : sums);
    if (reverse) result = __builtin_shufflevector(result, result, 3, 2, 1, 0);
    __builtin_memcpy(y + at, &result, sizeof result);
    before += __builtin_shufflevector(sums, sums, 3, 3, 3, 3);
  }
  s = before[0];
#endif
  return k;
}

}  // namespace ostraka::engine::detail

#undef OSTRAKA_DETAIL_SHUFFLES
