// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Compiles plain loops also for AVX2 and AVX-512, since compilers target the oldest processor of an
/// architecture by default. The processor is queried once. All code called inside is inlined into the function with the
/// wider vectors, and compiled two or three times, so keep it to a few loops.

#define OSTRAKA_DETAIL_AVX2 __attribute__((target("avx2,fma")))
#define OSTRAKA_DETAIL_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))

namespace ostraka::engine::detail {

/// The vectors for which functions are compiled; `plain` is the oldest processor.
enum class vector_width { plain, avx2, avx512 };

[[gnu::cold, gnu::noinline]] inline vector_width ask_processor() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw"))
    return vector_width::avx512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? vector_width::avx2 : vector_width::plain;
}

/// Returns the widest vectors of this processor.
inline vector_width widest_vectors() {
  static vector_width const widest = ask_processor();
  return widest;
}

template <class F>
OSTRAKA_DETAIL_AVX2 __attribute__((flatten, noinline)) void run_with_avx2(F const& f) {
  f();
}
template <class F>
OSTRAKA_DETAIL_AVX512 __attribute__((flatten, noinline)) void run_with_avx512(F const& f) {
  f();
}

}  // namespace ostraka::engine::detail
