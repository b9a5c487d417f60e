// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The register tile for products whose batch is innermost in memory: C[i, j, b] = sum over l of A[i, l, b]
/// B[l, j, b] for a few i and j in registers, each a vector along b. Like wide_micro_kernel.hpp, it is compiled for
/// several processors.

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/x86/wide.hpp>

namespace ostraka::engine::detail {

/// The operands: the first elements of row i of A and of column j of B, and the offsets of the other elements of the
/// sum in both.
template <class T>
struct batch_operands {
  T const* const* a;
  T const* const* b;
  std::int64_t const* in_a;
  std::int64_t const* in_b;
  std::int64_t depth;
  std::int64_t first = 0;  // of the batch
};

/// Computes `vectors` vectors of the batch, one after the other, and writes or adds element (i, j) to c + row_at[i] +
/// column_at[j].
template <class T>
using batch_function = void (*)(batch_operands<T> const& in, std::int64_t vectors, T* c, std::int64_t const* row_at,
                               std::int64_t const* column_at, bool adds);

/// The kernel for a type and a processor; without lanes if there is none.
template <class T>
struct batch_kernel {
  static constexpr int most_lanes = 64 / static_cast<int>(sizeof(T)), most = 4;  // rows and columns

  std::int64_t lanes = 0;
  batch_function<T> product[most][most] = {};  // [rows - 1][columns - 1], rows >= columns: A and B may be exchanged
};

// A macro for the same reason as in wide_micro_kernel.hpp.
#define OSTRAKA_DETAIL_BATCH_PRODUCT(name, attribute, bytes)                                                          \
    template <class T, int rows, int columns>                                                                         \
    attribute void name(batch_operands<T> const& in, std::int64_t vectors, T* c, std::int64_t const* row_at,          \
                        std::int64_t const* column_at, bool adds) {                                                   \
      typedef T vector __attribute__((vector_size(bytes)));                                                           \
      constexpr int lanes = bytes / static_cast<int>(sizeof(T));                                                      \
      T const* a[rows];                                                                                               \
      T const* b[columns];                                                                                            \
      for (int i = 0; i < rows; ++i) a[i] = in.a[i] + in.first;                                                       \
      for (int j = 0; j < columns; ++j) b[j] = in.b[j] + in.first;                                                    \
      for (; vectors > 0; --vectors, c += lanes) {                                                                    \
        vector tile[rows][columns] = {};                                                                              \
        for (std::int64_t l = 0; l < in.depth; ++l) {                                                                 \
          vector left[rows];                                                                                          \
          _Pragma("GCC unroll 4") for (int i = 0; i < rows; ++i) __builtin_memcpy(&left[i], a[i] + in.in_a[l], bytes); \
          _Pragma("GCC unroll 4") for (int j = 0; j < columns; ++j) {                                                 \
            vector right;                                                                                             \
            __builtin_memcpy(&right, b[j] + in.in_b[l], bytes);                                                       \
            _Pragma("GCC unroll 4") for (int i = 0; i < rows; ++i) tile[i][j] += left[i] * right;                     \
          }                                                                                                           \
        }                                                                                                             \
        _Pragma("GCC unroll 4") for (int i = 0; i < rows; ++i)                                                        \
            _Pragma("GCC unroll 4") for (int j = 0; j < columns; ++j) {                                               \
          T* const to = c + row_at[i] + column_at[j];                                                                 \
          vector sum = {};                                                                                            \
          if (adds) __builtin_memcpy(&sum, to, bytes);                                                                \
          sum += tile[i][j];                                                                                          \
          __builtin_memcpy(to, &sum, bytes);                                                                          \
        }                                                                                                             \
        for (int i = 0; i < rows; ++i) a[i] += lanes;                                                                 \
        for (int j = 0; j < columns; ++j) b[j] += lanes;                                                              \
      }                                                                                                               \
    }                                                                                                                 \
    template <class T>                                                                                                \
    constexpr batch_kernel<T> name##s = {bytes / static_cast<int>(sizeof(T)),                                         \
                                        {{name<T, 1, 1>},                                                             \
                                         {name<T, 2, 1>, name<T, 2, 2>},                                              \
                                         {name<T, 3, 1>, name<T, 3, 2>, name<T, 3, 3>},                               \
                                         {name<T, 4, 1>, name<T, 4, 2>, name<T, 4, 3>, name<T, 4, 4>}}};

// Each kernel costs compilers twenty functions, so there are none for processors without AVX2.
OSTRAKA_DETAIL_BATCH_PRODUCT(batch_product_32, OSTRAKA_DETAIL_AVX2, 32)
OSTRAKA_DETAIL_BATCH_PRODUCT(batch_product_64, OSTRAKA_DETAIL_AVX512, 64)
#undef OSTRAKA_DETAIL_BATCH_PRODUCT

/// Returns the bytes of this processor's widest vectors that a batch of this extent fills; 0 if there are none for this
/// type.
template <class T>
int vectors_of_batch([[maybe_unused]] std::int64_t batch) {
  if constexpr (std::is_floating_point_v<T> && sizeof(T) <= 8) {
    auto const fills = [&](int bytes) { return batch >= bytes / static_cast<int>(sizeof(T)); };
    vector_width const widest = widest_vectors();
    if (fills(64) && widest == vector_width::avx512) return 64;
    if (fills(32) && widest != vector_width::plain) return 32;
  }
  return 0;
}

/// Returns the kernel for these vectors.
template <class T>
batch_kernel<T> choose_batch_kernel([[maybe_unused]] std::int64_t batch) {
  if constexpr (std::is_floating_point_v<T> && sizeof(T) <= 8) {
    int const bytes = vectors_of_batch<T>(batch);
    if (bytes == 64) return batch_product_64s<T>;
    if (bytes == 32) return batch_product_32s<T>;
  }
  return {};
}

}  // namespace ostraka::engine::detail
