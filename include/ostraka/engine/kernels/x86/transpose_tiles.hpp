// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Transposes matrices in squares that fit into registers, on the host: rows are read and columns written as
/// whole vectors of 16 bytes, which every 64-bit processor has, or as wide as this one's. Whoever reads at once what
/// was turned should find each of its vectors in one store; reading two took nearly twice as long
/// (docs/design/elementwise.md). Hence nothing is turned element by element at the ends of rows that are no multiple of
/// the square: their last square overlaps the one before, and is written first.

#include <cstdint>
#include <utility>

#include <ostraka/engine/kernels/x86/wide.hpp>

#if defined(__has_builtin) && !defined(__CUDACC__) && !defined(__HIPCC__)
#if __has_builtin(__builtin_shufflevector)
#define OSTRAKA_DETAIL_TURNS_IN_REGISTERS 1
#endif
#endif

namespace ostraka::engine::detail {

/// Elements of a cache line.
template <class T>
inline constexpr std::int64_t elements_of_line = sizeof(T) < 64 ? 64 / static_cast<std::int64_t>(sizeof(T)) : 1;

/// What is met square by square is so in tiles of about so many elements along, which are rows of the turned operand,
/// as many as a core reads ahead, by so many across.
inline constexpr std::int64_t tile_of_squares[2] = {32, 256};

#if OSTRAKA_DETAIL_TURNS_IN_REGISTERS

// A macro because the compiler splits vectors by the function in which they are written, before it puts that function
// into another. interleave: in each 16 bytes, the first halves of x and y element by element, and the second halves;
// log2 of such steps transpose each 16 bytes' square. turn_lanes: the square of these squares. load_turned: a square
// into registers, turned. turn: B[j, i] = A[i, j], a cache line of j after the other, so that lines are used whole even
// where rows evict one another. @pre both sides are at least a square's
#  define OSTRAKA_DETAIL_TURN_SQUARES(name, attribute, bytes)                                                          \
    template <class Word>                                                                                              \
    struct name {                                                                                                      \
      static constexpr int side = bytes / static_cast<int>(sizeof(Word)), lane = 16 / static_cast<int>(sizeof(Word));  \
      typedef Word vector __attribute__((vector_size(bytes)));                                                         \
                                                                                                                       \
      template <int... k>                                                                                              \
      attribute __attribute__((always_inline)) static inline void interleave(vector& x, vector& y,                     \
                                                                             std::integer_sequence<int, k...>) {       \
        vector const first = __builtin_shufflevector(x, y, (k % 2 * side + k / lane * lane + k % lane / 2)...);        \
        vector const second =                                                                                          \
            __builtin_shufflevector(x, y, (k % 2 * side + k / lane * lane + k % lane / 2 + lane / 2)...);              \
        x = first, y = second;                                                                                         \
      }                                                                                                                \
      template <int apart, int... k>                                                                                   \
      attribute __attribute__((always_inline)) static inline void exchange_lanes(vector& x, vector& y,                 \
                                                                                 std::integer_sequence<int, k...>) {   \
        vector const first = __builtin_shufflevector(x, y, (k / lane & apart ? k + side - apart * lane : k)...);       \
        vector const second = __builtin_shufflevector(x, y, (k / lane & apart ? k + side : k + apart * lane)...);      \
        x = first, y = second;                                                                                         \
      }                                                                                                                \
      template <int apart>                                                                                             \
      attribute __attribute__((always_inline)) static inline void turn_lanes(vector* row) {                            \
        if constexpr (apart * lane < side)                                                                             \
          for (int i = 0; i < side; ++i)                                                                               \
            if (!(i / lane & apart))                                                                                   \
              exchange_lanes<apart>(row[i], row[i + apart * lane], std::make_integer_sequence<int, side>{});           \
      }                                                                                                                \
      attribute __attribute__((always_inline)) static inline void load_turned(vector* row, Word const* from,           \
                                                                              std::int64_t from_step) {                \
        vector next[side];                                                                                             \
        for (int i = 0; i < side; ++i) __builtin_memcpy(&row[i], from + i * from_step, bytes);                         \
        for (int step = 1; step < lane; step *= 2) {                                                                   \
          for (int first = 0; first < side; first += lane)                                                             \
            for (int i = 0; i < lane / 2; ++i) {                                                                       \
              interleave(row[first + i], row[first + i + lane / 2], std::make_integer_sequence<int, side>{});          \
              next[first + 2 * i] = row[first + i], next[first + 2 * i + 1] = row[first + i + lane / 2];               \
            }                                                                                                          \
          for (int i = 0; i < side; ++i) row[i] = next[i];                                                             \
        }                                                                                                              \
        turn_lanes<1>(row);                                                                                            \
        turn_lanes<2>(row);                                                                                            \
      }                                                                                                                \
      attribute __attribute__((always_inline)) static inline void turn_one(Word* to, std::int64_t to_step,             \
                                                                           Word const* from, std::int64_t from_step) { \
        vector row[side];                                                                                              \
        load_turned(row, from, from_step);                                                                             \
        for (int j = 0; j < side; ++j) __builtin_memcpy(to + j * to_step, &row[j], bytes);                             \
      }                                                                                                                \
      attribute static void turn(Word* to, std::int64_t to_step, Word const* from, std::int64_t from_step,             \
                                 std::int64_t height, std::int64_t width) {                                            \
        constexpr std::int64_t line = elements_of_line<Word>;                                                          \
        for (std::int64_t begin = 0; begin < width; begin += line) {                                                   \
          std::int64_t const end = begin + line < width ? begin + line : width;                                        \
          for (std::int64_t next = height % side ? -side : 0; next + side <= height; next += side) {                   \
            std::int64_t const i = next < 0 ? height - side : next;                                                    \
            for (std::int64_t begins = begin; begins < end; begins += side) {                                          \
              std::int64_t const j = begins + side < width ? begins : width - side;                                    \
              turn_one(to + j * to_step + i, to_step, from + i * from_step + j, from_step);                            \
            }                                                                                                          \
          }                                                                                                            \
        }                                                                                                              \
      }                                                                                                                \
    };

OSTRAKA_DETAIL_TURN_SQUARES(squares_of_16_bytes, , 16)
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
OSTRAKA_DETAIL_TURN_SQUARES(squares_of_32_bytes, OSTRAKA_DETAIL_AVX2, 32)
OSTRAKA_DETAIL_TURN_SQUARES(squares_of_64_bytes, OSTRAKA_DETAIL_AVX512, 64)
#endif
#undef OSTRAKA_DETAIL_TURN_SQUARES

#endif

}  // namespace ostraka::engine::detail
