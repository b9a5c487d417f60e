// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Square roots with the instruction that every x86-64 processor has, of one number or a run. By default
/// compilers maintain errno, so they call the library for negative numbers and do not vectorise such a loop.

#include <emmintrin.h>

#include <cstdint>

namespace ostraka::engine::detail {

inline float square_root(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }
inline double square_root(double x) { return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_set_sd(x), _mm_set_sd(x))); }

inline void square_roots(std::int64_t count, float* to, float const* from) {
  std::int64_t const whole = count / 4 * 4;
  for (std::int64_t i = 0; i < whole; i += 4) _mm_storeu_ps(to + i, _mm_sqrt_ps(_mm_loadu_ps(from + i)));
  for (std::int64_t i = whole; i < count; ++i) to[i] = square_root(from[i]);
}
inline void square_roots(std::int64_t count, double* to, double const* from) {
  std::int64_t const whole = count / 2 * 2;
  for (std::int64_t i = 0; i < whole; i += 2) _mm_storeu_pd(to + i, _mm_sqrt_pd(_mm_loadu_pd(from + i)));
  for (std::int64_t i = whole; i < count; ++i) to[i] = square_root(from[i]);
}

}  // namespace ostraka::engine::detail
