// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. √x of floats and doubles, correctly rounded, NaN for negative numbers; errno is unspecified. For one
/// number, and for runs of them, since such loops would not vectorise (x86/sse_square_root.hpp).

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#if OSTRAKA_DETAIL_X86
#include <ostraka/engine/kernels/x86/sse_square_root.hpp>
#endif

namespace ostraka::engine {

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T square_root(T x) {
#if OSTRAKA_DETAIL_X86
  return detail::square_root(x);
#else
  return std::sqrt(x);
#endif
}

/// to[i] = √from[i]; they may be the same.
template <class T>
void square_roots(std::int64_t count, T* to, T const* from) {
#if OSTRAKA_DETAIL_X86
  detail::square_roots(count, to, from);
#else
  for (std::int64_t i = 0; i < count; ++i) to[i] = std::sqrt(from[i]);
#endif
}

/// Calls work(count, floats) on 16-bit elements, converted to floats, a part at a time; rounds the results once.
template <class T, class Work>
void in_floats(std::int64_t count, T* to, T const* from, Work const& work) {
  constexpr std::int64_t most = 512;
  float wide[most];
  for (std::int64_t begin = 0; begin < count; begin += most) {
    std::int64_t const n = count - begin < most ? count - begin : most;
    for_each_independent(n, [=, &wide](std::int64_t i) { wide[i] = float(from[begin + i]); });
    work(n, wide);
    for_each_independent(n, [=, &wide](std::int64_t i) { to[begin + i] = T(wide[i]); });
  }
}

}  // namespace ostraka::engine
