// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The sum over i, j of A[i, j] B[j, i] on the host, where j is contiguous in A and i in B: each square of B
/// is turned in registers and multiplied there. The way through the first cache took a third of the time
/// (docs/design/elementwise.md).

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/x86/transpose_tiles.hpp>
#include <ostraka/engine/kernels/x86/wide.hpp>

namespace ostraka::engine::detail {

#if OSTRAKA_DETAIL_TURNS_IN_REGISTERS

/// Are products of these elements summed by squares?
template <class T>
inline constexpr bool sums_squares = std::is_same_v<T, float> || std::is_same_v<T, double>;

// A macro because the compiler splits vectors by the function in which they are written. sum: squares along j within
// those along i. What is left at the ends is in squares that overlap those before, of which add_rest leaves out so many
// rows and columns. @pre both sides are at least a square's
#  define OSTRAKA_DETAIL_SUM_SQUARES(name, attribute, squares)                                                      \
    template <class T>                                                                                              \
    struct name : squares<T> {                                                                                      \
      using base = squares<T>;                                                                                      \
      using typename base::vector;                                                                                  \
      static constexpr std::int64_t side = base::side;                                                              \
      static constexpr int lanes = 64 / base::side < base::side ? 64 / base::side : base::side;                     \
                                                                                                                    \
      attribute static T sum(T const* a, std::int64_t a_step, T const* b, std::int64_t b_step, std::int64_t height, \
                             std::int64_t width) {                                                                  \
        vector sums[lanes] = {};                                                                                    \
        for (std::int64_t i = 0; i + side <= height; i += side)                                                     \
          for (std::int64_t j = 0; j + side <= width; j += side) {                                                  \
            vector row[side];                                                                                       \
            base::load_turned(row, b + j * b_step + i, b_step);                                                     \
            for (int k = 0; k < side; ++k) {                                                                        \
              vector x;                                                                                             \
              __builtin_memcpy(&x, a + (i + k) * a_step + j, sizeof(vector));                                       \
              sums[k % lanes] += x * row[k];                                                                        \
            }                                                                                                       \
          }                                                                                                         \
        for (int apart = lanes / 2; apart > 0; apart /= 2)                                                          \
          for (int k = 0; k < apart; ++k) sums[k] += sums[k + apart];                                               \
        for (std::int64_t i = 0; i < height; i += side)                                                             \
          for (std::int64_t j = i + side <= height ? width / side * side : 0; j < width; j += side) {               \
            std::int64_t const early_i = i + side <= height ? 0 : i + side - height,                                \
                               early_j = j + side <= width ? 0 : j + side - width;                                  \
            add_rest(sums[0], a + (i - early_i) * a_step + j - early_j, a_step,                                     \
                     b + (j - early_j) * b_step + i - early_i, b_step, early_i, early_j);                           \
          }                                                                                                         \
        T last[side];                                                                                               \
        __builtin_memcpy(last, sums, sizeof(vector));                                                               \
        for (int apart = side / 2; apart > 0; apart /= 2)                                                           \
          for (int l = 0; l < apart; ++l) last[l] += last[l + apart];                                               \
        return last[0];                                                                                             \
      }                                                                                                             \
                                                                                                                    \
      attribute __attribute__((always_inline)) static inline void add_rest(vector& sum, T const* a,                 \
                                                                           std::int64_t a_step, T const* b,         \
                                                                           std::int64_t b_step, std::int64_t rows,  \
                                                                           std::int64_t columns) {                  \
        vector row[side], column;                                                                                   \
        base::load_turned(row, b, b_step);                                                                          \
        for (int l = 0; l < side; ++l) column[l] = T(l);                                                            \
        for (int k = 0; k < side; ++k)                                                                              \
          if (k >= rows) {                                                                                          \
            vector x;                                                                                               \
            __builtin_memcpy(&x, a + k * a_step, sizeof(vector));                                                   \
            sum += column < T(columns) ? vector{} : x * row[k];                                                     \
          }                                                                                                         \
      }                                                                                                             \
    };

OSTRAKA_DETAIL_SUM_SQUARES(sums_of_16_bytes, , squares_of_16_bytes)
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
OSTRAKA_DETAIL_SUM_SQUARES(sums_of_32_bytes, OSTRAKA_DETAIL_AVX2, squares_of_32_bytes)
OSTRAKA_DETAIL_SUM_SQUARES(sums_of_64_bytes, OSTRAKA_DETAIL_AVX512, squares_of_64_bytes)
#endif
#undef OSTRAKA_DETAIL_SUM_SQUARES

/// By these squares if both sides are at least as long as one's.
template <class Sums, class T>
bool sums_by(T& sum, T const* a, std::int64_t a_step, T const* b, std::int64_t b_step, std::int64_t height,
             std::int64_t width) {
  if (height < Sums::side || width < Sums::side) return false;
  sum += Sums::sum(a, a_step, b, b_step, height, width);
  return true;
}

#else

template <class T>
inline constexpr bool sums_squares = false;

#endif

/// sum += the sum over i < height, j < width of a[i a_step + j] b[j b_step + i]. Does nothing and says so if the matrix
/// is smaller than a square.
template <class T>
[[nodiscard]] bool sum_squares([[maybe_unused]] T& sum, [[maybe_unused]] T const* a,
                               [[maybe_unused]] std::int64_t a_step, [[maybe_unused]] T const* b,
                               [[maybe_unused]] std::int64_t b_step, [[maybe_unused]] std::int64_t height,
                               [[maybe_unused]] std::int64_t width) {
#if OSTRAKA_DETAIL_TURNS_IN_REGISTERS
  if constexpr (sums_squares<T>) {
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
    vector_width const widest = widest_vectors();
    if (widest == vector_width::avx512 && sums_by<sums_of_64_bytes<T>>(sum, a, a_step, b, b_step, height, width))
      return true;
    if (widest != vector_width::plain && sums_by<sums_of_32_bytes<T>>(sum, a, a_step, b, b_step, height, width))
      return true;
#endif
    return sums_by<sums_of_16_bytes<T>>(sum, a, a_step, b, b_step, height, width);
  }
#endif
  return false;
}

}  // namespace ostraka::engine::detail
