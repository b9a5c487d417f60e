// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Four sums at once, of four runs that lie apart in memory: a core that reads from four places fetches more
/// of them ahead than from one, and need not wait for one addition to begin the next. S[s] += sum over r of X[s, r]
/// Y[s, r], s < 4. The runs are four rows, or the quarters of one.

#include <cstdint>

#include <ostraka/engine/kernels/portable/vectors.hpp>

namespace ostraka::engine::detail {

/// Accumulators side by side in each of the four. Not fewer: compilers unroll shorter loops before they think of
/// vectors.
inline constexpr int dot_lanes = 16;

/// sums[s step] += sum over r < count of term(s, r).
template <class T, class Term>
void unrolled_sums(T* sums, std::int64_t step, std::int64_t count, Term const& term) {
  constexpr int lanes = dot_lanes;
  T s0[lanes], s1[lanes], s2[lanes], s3[lanes];
  for (int l = 0; l < lanes; ++l) s0[l] = s1[l] = s2[l] = s3[l] = T(0);
  std::int64_t r = 0;
  for (; r + lanes <= count; r += lanes)
    for (int l = 0; l < lanes; ++l) {
      s0[l] += term(0, r + l);
      s1[l] += term(1, r + l);
      s2[l] += term(2, r + l);
      s3[l] += term(3, r + l);
    }
  // by halves: one after the other they would wait for sixteen additions
  _Pragma("GCC unroll 4") for (int half = lanes / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) s0[l] += s0[half + l],
      s1[l] += s1[half + l], s2[l] += s2[half + l], s3[l] += s3[half + l];
  T t0 = s0[0], t1 = s1[0], t2 = s2[0], t3 = s3[0];
  for (; r < count; ++r) t0 += term(0, r), t1 += term(1, r), t2 += term(2, r), t3 += term(3, r);
  sums[0] += t0;
  sums[step] += t1;
  sums[2 * step] += t2;
  sums[3 * step] += t3;
}

/// sums[s step] += sum over r < count of x[s apart + r]
template <class T, class Element>
void unrolled_sums(T* sums, std::int64_t step, Element const* x, std::int64_t apart, std::int64_t count) {
  with_wide_vectors([=] {
    Element const* const from[4] = {x, x + apart, x + 2 * apart, x + 3 * apart};
    unrolled_sums(sums, step, count, [&](int s, std::int64_t r) { return T(from[s][r]); });
  });
}

/// sums[s step] += sum over r < count of x[s x_apart + r] y[s y_apart + r]
template <class T>
void unrolled_dots(T* sums, std::int64_t step, T const* x, std::int64_t x_apart, T const* y, std::int64_t y_apart,
                   std::int64_t count) {
  with_wide_vectors([=] {
    T const* const from_x[4] = {x, x + x_apart, x + 2 * x_apart, x + 3 * x_apart};
    T const* const from_y[4] = {y, y + y_apart, y + 2 * y_apart, y + 3 * y_apart};
    unrolled_sums(sums, step, count, [&](int s, std::int64_t r) { return from_x[s][r] * from_y[s][r]; });
  });
}

}  // namespace ostraka::engine::detail
