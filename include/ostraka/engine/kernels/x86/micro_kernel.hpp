// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The innermost product of our own matrix products on the host: C[i, j] = sum over l of A[l, i] B[l, j], i <
/// rows, j < columns, all of C in registers (the register tile of Goto and van de Geijn, Anatomy of High-Performance
/// Matrix Multiplication, 2008). Users compile for the oldest processor of their architecture by default, which leaves
/// out seven eighths of a recent one, so this one function exists for AVX2 and AVX-512, too, and the processor is asked
/// once.

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/x86/wide.hpp>

namespace ostraka::engine::detail {

/// What a tile reads of an operand, in a packed panel or where the operand lies: element i of line l is first[i step +
/// l next].
template <class T>
struct micro_lines {
  T const* first;
  std::int64_t step;
  std::int64_t next;
};

/// What a tile asks of memory for a later one while it multiplies: the lines at from + at[i], one every other step of
/// its sum, as far as that goes.
struct micro_fetch {
  char const* from = nullptr;
  std::int64_t const* at = nullptr;  // bytes
  std::int64_t count = 0;
};

/// Row i of the tile is written, or added, to c + row_at[i]; a has a line of rows, b one of columns, side by side, for
/// each of `depth`.
template <class T>
using micro_function = void (*)(std::int64_t depth, micro_lines<T> const& a, micro_lines<T> const& b, T* c,
                                std::int64_t const* row_at, bool adds, micro_fetch const& ahead);

template <class T>
struct micro_kernel {
  static constexpr int most_rows = 8, most_across = 3,
                       most_elements = sizeof(T) <= 64 ? 1536 / static_cast<int>(sizeof(T)) : 24;

  int rows;
  int few_rows;                        // of a tile where no more are left
  int lanes;                           // columns of a vector
  int across;                          // vectors of the widest tile
  micro_function<T> of[most_across];   // tiles of 1, 2, … vectors
  micro_function<T> few[most_across];  // and of few rows

  [[nodiscard]] int columns() const { return lanes * across; }
  /// Vectors that hold so many columns; no division, which takes as long as ten multiplications.
  [[nodiscard]] int vectors(int width) const { return 1 + (width > lanes) + (width > 2 * lanes); }
};

/// Any type.
template <class T, int columns, int rows>
void micro_product(std::int64_t depth, micro_lines<T> const& a, micro_lines<T> const& b, T* c,
                   std::int64_t const* row_at, bool adds, micro_fetch const&) {
  T tile[rows][columns];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) tile[i][j] = T(0);
  for (std::int64_t l = 0; l < depth; ++l)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) tile[i][j] += a.first[l * a.next + i * a.step] * b.first[l * b.next + j];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) c[row_at[i] + j] = adds ? c[row_at[i] + j] + tile[i][j] : tile[i][j];
}

#if OSTRAKA_DETAIL_VECTORS
// One step of the sum: a row of B in registers times the elements of a column of A, of which every third has a pointer
// and the processor adds one or two steps while it loads. Without the line of assembler, which does nothing, compilers
// reach each element from the one before.
#  define OSTRAKA_DETAIL_MICRO_STEP                                                                                   \
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

// A macro because the compiler splits vectors by the function in which they are written, before it puts that function
// into another. C is fetched while the sum is on its way.
#  define OSTRAKA_DETAIL_MICRO_PRODUCT(name, attribute, bytes)                                                        \
    template <class T, int across, int rows>                                                                          \
    attribute void name(std::int64_t depth, micro_lines<T> const& a, micro_lines<T> const& b, T* c,                   \
                        std::int64_t const* row_at, bool adds, micro_fetch const& ahead) {                            \
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
      std::int64_t const line_step = b.next, fetched = 2 * ahead.count;                                               \
      char const* const fetch_from = ahead.from;                                                                      \
      std::int64_t const* const fetch_at = ahead.at;                                                                  \
      vector tile[rows][across] = {};                                                                                 \
      std::int64_t l = 0;                                                                                             \
      for (; l + 2 <= depth; l += 2) {                                                                                \
        if (l < fetched) __builtin_prefetch(fetch_from + fetch_at[l >> 1], 0, 2);                                     \
        OSTRAKA_DETAIL_MICRO_STEP                                                                                     \
        OSTRAKA_DETAIL_MICRO_STEP                                                                                     \
      }                                                                                                               \
      if (l < depth) OSTRAKA_DETAIL_MICRO_STEP                                                                        \
      _Pragma("GCC unroll 8") for (int i = 0; i < rows; ++i)                                                          \
          _Pragma("GCC unroll 3") for (int v = 0; v < across; ++v) {                                                  \
        T* const to = c + row_at[i] + v * lanes;                                                                      \
        vector sum = {};                                                                                              \
        if (adds) __builtin_memcpy(&sum, to, bytes);                                                                  \
        sum += tile[i][v];                                                                                            \
        __builtin_memcpy(to, &sum, bytes);                                                                            \
      }                                                                                                               \
    }

OSTRAKA_DETAIL_MICRO_PRODUCT(micro_product_16, , 16)
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
OSTRAKA_DETAIL_MICRO_PRODUCT(micro_product_32, OSTRAKA_DETAIL_AVX2, 32)
OSTRAKA_DETAIL_MICRO_PRODUCT(micro_product_64, OSTRAKA_DETAIL_AVX512, 64)
#endif
#undef OSTRAKA_DETAIL_MICRO_PRODUCT
#undef OSTRAKA_DETAIL_MICRO_STEP
#endif

/// The fastest for this type and this processor.
template <class T>
micro_kernel<T> choose_micro_kernel() {
#if OSTRAKA_DETAIL_VECTORS
  if constexpr (std::is_arithmetic_v<T> &&
                sizeof(T) >= 4) {  // the columns of a tile are the bits of a word (tile_panels.hpp)
    constexpr int element = static_cast<int>(sizeof(T));
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
    vector_width const widest = widest_vectors();
    if (widest == vector_width::avx512)
      return {8, 4, 64 / element, 3, {micro_product_64<T, 1, 8>, micro_product_64<T, 2, 8>, micro_product_64<T, 3, 8>},
              {micro_product_64<T, 1, 4>, micro_product_64<T, 2, 4>, micro_product_64<T, 3, 4>}};
    if (widest == vector_width::avx2)
      return {6, 6, 32 / element, 2, {micro_product_32<T, 1, 6>, micro_product_32<T, 2, 6>, nullptr}, {}};
#endif
    return {6, 6, 16 / element, 2, {micro_product_16<T, 1, 6>, micro_product_16<T, 2, 6>, nullptr}, {}};
  }
#endif
  return {4, 4, 2, 2, {micro_product<T, 2, 4>, micro_product<T, 4, 4>, nullptr}, {}};
}

}  // namespace ostraka::engine::detail
