// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Converts runs of float16 to floats and back with instructions that every processor with AVX2 has, and that
/// compilers do not use by themselves. NaN becomes a quiet NaN.

#include <immintrin.h>

#include <cstdint>

#include <ostraka/engine/kernels/x86/wide.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine::detail {

#define OSTRAKA_DETAIL_F16C(targets) __attribute__((target(targets ",f16c"), noinline)) inline std::int64_t

OSTRAKA_DETAIL_F16C("avx2") widen_eights(float16 const* from, float* to, std::int64_t n) {
  std::int64_t k = 0;
  for (; k + 8 <= n; k += 8)
    _mm256_storeu_ps(to + k, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<__m128i_u const*>(from + k))));
  return k;
}
OSTRAKA_DETAIL_F16C("avx512f") widen_sixteens(float16 const* from, float* to, std::int64_t n) {
  constexpr __mmask16 all = 0xffff;  // without a mask g++ 12 warns of what its own header leaves unset
  std::int64_t k = 0;
  for (; k + 16 <= n; k += 16)
    _mm512_storeu_ps(
        to + k, _mm512_maskz_cvtph_ps(all, _mm256_loadu_si256(reinterpret_cast<__m256i_u const*>(from + k))));
  return k;
}
OSTRAKA_DETAIL_F16C("avx2") narrow_eights(float const* from, float16* to, std::int64_t n) {
  std::int64_t k = 0;
  for (; k + 8 <= n; k += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to + k),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + k), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return k;
}
OSTRAKA_DETAIL_F16C("avx512f") narrow_sixteens(float const* from, float16* to, std::int64_t n) {
  constexpr __mmask16 all = 0xffff;  // without a mask g++ 12 warns of what its own header leaves unset
  std::int64_t k = 0;
  for (; k + 16 <= n; k += 16)
    _mm256_storeu_si256(
        reinterpret_cast<__m256i_u*>(to + k),
        _mm512_maskz_cvtps_ph(all, _mm512_loadu_ps(from + k), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return k;
}

#undef OSTRAKA_DETAIL_F16C

/// Widens whole vectors, if this processor has the instructions. Returns the number of elements widened.
inline std::int64_t widen_vectors(float16 const* from, float* to, std::int64_t n) {
  return widest_vectors() == vector_width::avx512 ? widen_sixteens(from, to, n) : widen_eights(from, to, n);
}

/// Narrows whole vectors, to the nearest, ties to even. Returns the number of elements narrowed.
inline std::int64_t narrow_vectors(float const* from, float16* to, std::int64_t n) {
  return widest_vectors() == vector_width::avx512 ? narrow_sixteens(from, to, n) : narrow_eights(from, to, n);
}

}  // namespace ostraka::engine::detail
