// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Plain loops, compiled for AVX2 and AVX-512, too, since users compile for the oldest processor of their architecture by default: the processor
/// is asked once. Everything that is called inside is put into the function with the wider vectors, so keep what is called to a few loops:
/// it is compiled three times.

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define OSTRAKA_DETAIL_WIDENS 1
#endif

namespace ostraka::engine::detail {

#if OSTRAKA_DETAIL_WIDENS
template <class F>
__attribute__((target("avx2,fma"), flatten, noinline)) void run_with_avx2(F const& f) {
  f();
}
template <class F>
__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma"), flatten, noinline)) void run_with_avx512(F const& f) {
  f();
}

enum class vector_width { plain, avx2, avx512 };

inline vector_width widest_vectors() {
  static vector_width const widest = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                                             __builtin_cpu_supports("avx512bw")
                                         ? vector_width::avx512
                                     : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? vector_width::avx2
                                                                                                       : vector_width::plain;
  return widest;
}
#endif

/// Calls f() with the widest vectors that this processor has.
template <class F>
void with_wide_vectors(F const& f) {
#if OSTRAKA_DETAIL_WIDENS
  switch (widest_vectors()) {
    case vector_width::avx512: return run_with_avx512(f);
    case vector_width::avx2: return run_with_avx2(f);
    case vector_width::plain: break;
  }
#endif
  f();
}

}  // namespace ostraka::engine::detail
