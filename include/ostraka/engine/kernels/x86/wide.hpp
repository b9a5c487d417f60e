// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Plain loops, compiled for AVX2 and AVX-512, too, since users compile for the oldest processor of their
/// architecture by default: the processor is asked once. Everything that is called inside is put into the function with
/// the wider vectors, so keep what is called to a few loops: it is compiled three times.

#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define OSTRAKA_DETAIL_VECTORS 1
#if defined(__x86_64__)
#define OSTRAKA_DETAIL_ASKS_PROCESSOR 1
#define OSTRAKA_DETAIL_AVX2 __attribute__((target("avx2,fma")))
#define OSTRAKA_DETAIL_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))
#endif
#endif

namespace ostraka::engine::detail {

/// For which processors a function is compiled beside the oldest one.
enum class vector_width { plain, avx2, avx512 };

/// What this processor has.
inline vector_width widest_vectors() {
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
  static vector_width const widest = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")
                                         ? vector_width::avx512
                                     : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                                         ? vector_width::avx2
                                         : vector_width::plain;
  return widest;
#else
  return vector_width::plain;
#endif
}

#if OSTRAKA_DETAIL_ASKS_PROCESSOR
template <class F>
OSTRAKA_DETAIL_AVX2 __attribute__((flatten, noinline)) void run_with_avx2(F const& f) {
  f();
}
template <class F>
OSTRAKA_DETAIL_AVX512 __attribute__((flatten, noinline)) void run_with_avx512(F const& f) {
  f();
}
#endif

/// Calls f() with the widest vectors that this processor has.
template <class F>
void with_wide_vectors(F const& f) {
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
  switch (widest_vectors()) {
    case vector_width::avx512: return run_with_avx512(f);
    case vector_width::avx2: return run_with_avx2(f);
    case vector_width::plain: break;
  }
#endif
  f();
}

}  // namespace ostraka::engine::detail
