// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The innermost product of our own matrix products on the host, from packed panels: C[i, j] += sum over l of A[l, i] B[l, j], i < rows, j < columns,
/// all of C in registers (the register tile of Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008). Users compile for the
/// oldest processor of their architecture by default, which leaves out seven eighths of a recent one, so this one function exists for AVX2 and AVX-512,
/// too, and the processor is asked once.

#include <cstdint>
#include <type_traits>

#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define OSTRAKA_DETAIL_VECTORS 1
#if defined(__x86_64__)
#define OSTRAKA_DETAIL_ASKS_PROCESSOR 1
#endif
#endif

namespace ostraka::engine::detail {

/// sums[i sum_step + j] += …; a is [depth, rows], b is [depth, columns].
template <class T>
struct micro_kernel {
  int rows;
  int columns;
  void (*run)(std::int64_t depth, T const* a, T const* b, T* sums, std::int64_t sum_step);
};

/// Any type.
template <class T>
void micro_product(std::int64_t depth, T const* a, T const* b, T* sums, std::int64_t sum_step) {
  constexpr int rows = 4, columns = 4;
  T tile[rows][columns];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) tile[i][j] = T(0);
  for (std::int64_t l = 0; l < depth; ++l, a += rows, b += columns)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) tile[i][j] += a[i] * b[j];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) sums[i * sum_step + j] += tile[i][j];
}

#if OSTRAKA_DETAIL_VECTORS
// A macro because the compiler splits vectors by the function in which they are written, before it puts that function into another.
#define OSTRAKA_DETAIL_MICRO_PRODUCT(name, attribute, bytes, rows)                                      \
  template <class T>                                                                                    \
  attribute void name(std::int64_t depth, T const* a, T const* b, T* sums, std::int64_t sum_step) {     \
    typedef T vector __attribute__((vector_size(bytes)));                                               \
    constexpr int lanes = bytes / static_cast<int>(sizeof(T));                                          \
    vector tile[rows][2] = {};                                                                          \
    for (std::int64_t l = 0; l < depth; ++l, a += rows, b += 2 * lanes) {                               \
      vector b0, b1;                                                                                    \
      __builtin_memcpy(&b0, b, bytes);                                                                  \
      __builtin_memcpy(&b1, b + lanes, bytes);                                                          \
      _Pragma("GCC unroll 16") for (int i = 0; i < rows; ++i) {                                         \
        tile[i][0] += a[i] * b0;                                                                        \
        tile[i][1] += a[i] * b1;                                                                        \
      }                                                                                                 \
    }                                                                                                   \
    _Pragma("GCC unroll 16") for (int i = 0; i < rows; ++i) for (int v = 0; v < 2; ++v) {               \
      vector sum;                                                                                       \
      __builtin_memcpy(&sum, sums + i * sum_step + v * lanes, bytes);                                   \
      sum += tile[i][v];                                                                                \
      __builtin_memcpy(sums + i * sum_step + v * lanes, &sum, bytes);                                   \
    }                                                                                                   \
  }

OSTRAKA_DETAIL_MICRO_PRODUCT(micro_product_16, , 16, 6)
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
OSTRAKA_DETAIL_MICRO_PRODUCT(micro_product_32, __attribute__((target("avx2,fma"))), 32, 6)
OSTRAKA_DETAIL_MICRO_PRODUCT(micro_product_64, __attribute__((target("avx512f,avx512dq,avx512vl,fma"))), 64, 12)
#endif
#undef OSTRAKA_DETAIL_MICRO_PRODUCT
#endif

/// The fastest for this type and this processor.
template <class T>
micro_kernel<T> choose_micro_kernel() {
#if OSTRAKA_DETAIL_VECTORS
  if constexpr (std::is_arithmetic_v<T>) {
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      return {12, 128 / static_cast<int>(sizeof(T)), micro_product_64<T>};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {6, 64 / static_cast<int>(sizeof(T)), micro_product_32<T>};
#endif
    return {6, 32 / static_cast<int>(sizeof(T)), micro_product_16<T>};
  }
#endif
  return {4, 4, micro_product<T>};
}

}  // namespace ostraka::engine::detail
