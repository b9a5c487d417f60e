// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Sums side by side, of which one is made in the end.

namespace ostraka::engine::detail {

/// lanes[0] <- the sum of twice as many as Half; by halves, since one after the other they would wait for each other,
/// and in loops, since what is unrolled becomes no vectors.
template <int Half, class T>
void sum_by_halves(T* lanes) {
  _Pragma("GCC unroll 1") for (int l = 0; l < Half; ++l) lanes[l] += lanes[Half + l];
  if constexpr (Half > 1) sum_by_halves<Half / 2>(lanes);
}

}  // namespace ostraka::engine::detail
