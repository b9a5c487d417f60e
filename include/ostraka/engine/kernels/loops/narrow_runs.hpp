// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Converts runs of elements to the numbers of the computation, and back: 16-bit elements become floats,
/// others are copied. Call it where loops are compiled for wide vectors (vectors.hpp).

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/types/values/half.hpp>

#if OSTRAKA_DETAIL_X86
#  include <ostraka/engine/kernels/x86/half_runs.hpp>
#endif

namespace ostraka::engine::detail {

/// True if runs of X use instructions that loops over single elements do not have.
template <class X>
inline constexpr bool is_converted_in_runs = OSTRAKA_DETAIL_X86&& std::is_same_v<X, float16>;

/// to[k] <- from[k]
template <class X, class T>
void widen_run(X const* from, T* to, std::int64_t n) {
  std::int64_t k = 0;
#if OSTRAKA_DETAIL_X86
  if constexpr (is_converted_in_runs<X>)
    if (n >= 8 && widest_vectors() != vector_width::plain) k = widen_vectors(from, to, n);
#endif
  for_each_independent(n - k, [to = to + k, from = from + k](std::int64_t i) { to[i] = static_cast<T>(from[i]); });
}

/// to[k] <- from[k], rounded.
template <class T, class X>
void narrow_run(T const* from, X* to, std::int64_t n) {
  std::int64_t k = 0;
#if OSTRAKA_DETAIL_X86
  if constexpr (is_converted_in_runs<X>)
    if (n >= 8 && widest_vectors() != vector_width::plain) k = narrow_vectors(from, to, n);
#endif
  for_each_independent(n - k, [to = to + k, from = from + k](std::int64_t i) { to[i] = static_cast<X>(from[i]); });
}

/// to[k] <- f(k), rounded.
template <class T, class X, class F>
void write_elements(X* to, std::int64_t n, F const& f) {
#if OSTRAKA_DETAIL_X86
  if constexpr (is_converted_in_runs<X>) {
    constexpr std::int64_t piece = 256;
    T wide[piece];
    for (std::int64_t begin = 0; begin < n; begin += piece) {
      std::int64_t const here = n - begin < piece ? n - begin : piece;
      for_each_independent(here, [&wide, &f, begin](std::int64_t k) { wide[k] = f(begin + k); });
      narrow_run(wide, to + begin, here);
    }
    return;
  }
#endif
  for_each_independent(n, [to, &f](std::int64_t k) { to[k] = static_cast<X>(f(k)); });
}

}  // namespace ostraka::engine::detail
