// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The register tile of our matrix products (portable/micro_kernel.hpp) with vectors of AVX2 and AVX-512. By
/// default compilers target the oldest processor of an architecture, which leaves seven eighths of a recent processor
/// unused.

#include <cstdint>

#include <ostraka/engine/kernels/portable/micro_kernel.hpp>
#include <ostraka/engine/kernels/x86/wide.hpp>

namespace ostraka::engine::detail {

// One step of the sum: a row of B in registers times the elements of a column of A. Every third element has a pointer;
// load instructions add one or two steps to it. Without the empty assembler statement, compilers would compute each
// address from the previous one.
#define OSTRAKA_DETAIL_MICRO_STEP                                                                                     \
    {                                                                                                                 \
      vector row[across];                                                                                             \
      _Pragma("GCC unroll 3") for (int v = 0; v < across; ++v)                                                        \
          __builtin_memcpy(&row[v], line + v * lanes, sizeof(vector));                                                \
      _Pragma("GCC unroll 8") for (int i = 0; i < rows; ++i) _Pragma("GCC unroll 3") for (int v = 0; v < across; ++v) \
          tile[i][v] += *reinterpret_cast<T const*>(third[i / 3] + i % 3 * step) * row[v];                            \
      _Pragma("GCC unroll 3") for (int t = 0; t < thirds; ++t) {                                                      \
        third[t] += next;                                                                                             \
        __asm__("" : "+r"(third[t]));                                                                                 \
      }                                                                                                               \
      line += line_step;                                                                                              \
    }

// A macro because the compiler splits vectors according to the function in which they are written, before it inlines
// that function. C is fetched during the sum.
#define OSTRAKA_DETAIL_MICRO_PRODUCT(name, attribute, bytes)                                                          \
    template <class T, int across, int rows>                                                                          \
    attribute void name(std::int64_t depth, micro_lines<T> const& a, micro_lines<T> const& b, T* c,                   \
                        std::int64_t const* row_at, bool adds) {                                                      \
      typedef T vector __attribute__((vector_size(bytes)));                                                           \
      constexpr int lanes = bytes / static_cast<int>(sizeof(T)), thirds = (rows + 2) / 3;                             \
      _Pragma("GCC unroll 8") for (int i = 0; i < rows; ++i) _Pragma("GCC unroll 3") for (int v = 0; v < across; ++v) \
          __builtin_prefetch(c + row_at[i] + v * lanes);                                                              \
      std::int64_t const step = a.step * static_cast<std::int64_t>(sizeof(T)),                                        \
                         next = a.next * static_cast<std::int64_t>(sizeof(T));                                        \
      char const* third[thirds];                                                                                      \
      _Pragma("GCC unroll 3") for (int t = 0; t < thirds; ++t) third[t] =                                             \
          reinterpret_cast<char const*>(a.first) + 3 * t * step;                                                      \
      T const* line = b.first;                                                                                        \
      std::int64_t const line_step = b.next;                                                                          \
      vector tile[rows][across] = {};                                                                                 \
      for (std::int64_t left = depth; left > 0; --left) OSTRAKA_DETAIL_MICRO_STEP                                     \
      _Pragma("GCC unroll 8") for (int i = 0; i < rows; ++i)                                                          \
          _Pragma("GCC unroll 3") for (int v = 0; v < across; ++v) {                                                  \
        T* const to = c + row_at[i] + v * lanes;                                                                      \
        vector sum = {};                                                                                              \
        if (adds) __builtin_memcpy(&sum, to, bytes);                                                                  \
        sum += tile[i][v];                                                                                            \
        __builtin_memcpy(to, &sum, bytes);                                                                            \
      }                                                                                                               \
    }

OSTRAKA_DETAIL_MICRO_PRODUCT(micro_product_32, OSTRAKA_DETAIL_AVX2, 32)
OSTRAKA_DETAIL_MICRO_PRODUCT(micro_product_64, OSTRAKA_DETAIL_AVX512, 64)
#undef OSTRAKA_DETAIL_MICRO_PRODUCT
#undef OSTRAKA_DETAIL_MICRO_STEP

/// Returns the kernel with AVX-512.
template <class T>
micro_kernel<T> micro_kernel_64() {
  return {8, 64 / static_cast<int>(sizeof(T)), 3, 0.75,
          {micro_product_64<T, 1, 8>, micro_product_64<T, 2, 8>, micro_product_64<T, 3, 8>}};
}

/// Returns the kernel with AVX2.
template <class T>
micro_kernel<T> micro_kernel_32() {
  return {6, 32 / static_cast<int>(sizeof(T)), 2, 1, {micro_product_32<T, 1, 6>, micro_product_32<T, 2, 6>, nullptr}};
}

}  // namespace ostraka::engine::detail
