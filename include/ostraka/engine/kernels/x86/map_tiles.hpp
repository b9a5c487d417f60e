// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. C[i, j] = f(A[i, j], B[j, i], …) on the host, where j is contiguous in C and in A, and i in B: square by
/// square, each of which is turned in registers and written as soon as it is computed, so that reading never waits for
/// a tile to be written (docs/design/elementwise.md).

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/kernels/x86/stream.hpp>
#include <ostraka/engine/kernels/x86/transpose_tiles.hpp>
#include <ostraka/engine/kernels/x86/wide.hpp>

namespace ostraka::engine::detail {

/// Operands of a tile. Element (i, j) of operand o lies i step[o] + j behind its first, or i + j step[o] if it is
/// turned.
template <class T, int operands>
struct square_operands {
  static constexpr int count = operands;

  T const* first[operands];
  std::int64_t step[operands];
  bool turned[operands];

  /// @pre the operand's elements are neighbours along or from row to row
  void set(int o, T const* from, std::int64_t along, std::int64_t row_step) {
    first[o] = from;
    turned[o] = along != 1;
    step[o] = turned[o] ? along : row_step;
  }
};

/// How many rows and columns of a tile are done.
struct part_of_tile {
  std::int64_t rows = 0, length = 0;
};

/// Can this machine, whose squares' rows are whole lines if the results are to go past the caches?
inline bool maps_squares([[maybe_unused]] bool past) {
#if OSTRAKA_DETAIL_TURNS_IN_REGISTERS
  return !past || widest_vectors() == vector_width::avx512;
#else
  return false;
#endif
}

#if OSTRAKA_DETAIL_TURNS_IN_REGISTERS

// A macro because the compiler splits vectors by the function in which they are written. @pre rows and length are
// multiples of the square's side; if the results are to go past the caches, a row of the square is a line
#  define OSTRAKA_DETAIL_MAP_SQUARES(name, attribute, squares)                                                        \
    template <class T>                                                                                                \
    struct name : squares<T> {                                                                                        \
      using base = squares<T>;                                                                                        \
      using typename base::vector;                                                                                    \
      static constexpr std::int64_t side = base::side;                                                                \
                                                                                                                      \
      template <class F, class Operands>                                                                              \
      attribute __attribute__((flatten)) static void map(F const& f, Operands const& in, T* to, std::int64_t to_step, \
                                                         bool past, std::int64_t rows, std::int64_t length) {         \
        for (std::int64_t i = 0; i < rows; i += side)                                                                 \
          for (std::int64_t j = 0; j < length; j += side) {                                                           \
            alignas(64) T turned[Operands::count][side * side];                                                       \
            T const* at[Operands::count];                                                                             \
            std::int64_t step[Operands::count];                                                                       \
            for (int o = 0; o < Operands::count; ++o) {                                                               \
              step[o] = in.turned[o] ? side : in.step[o];                                                             \
              at[o] = in.turned[o] ? turned[o] : in.first[o] + i * in.step[o] + j;                                    \
              if (in.turned[o]) base::turn_one(turned[o], side, in.first[o] + j * in.step[o] + i, in.step[o]);        \
            }                                                                                                         \
            for (int k = 0; k < side; ++k)                                                                            \
              map_row(f, at, step, k, to + (i + k) * to_step + j, past, std::make_index_sequence<Operands::count>{}); \
          }                                                                                                           \
      }                                                                                                               \
                                                                                                                      \
      template <class F, int count, std::size_t... o>                                                                 \
      attribute __attribute__((always_inline)) static inline void map_row(F const& f, T const* const (&at)[count],    \
                                                                          std::int64_t const (&step)[count], int k,   \
                                                                          T* to, [[maybe_unused]] bool past,          \
                                                                          std::index_sequence<o...>) {                \
        alignas(64) T mapped[side];                                                                                   \
        for (int l = 0; l < side; ++l) mapped[l] = f(at[o][k * step[o] + l]...);                                      \
        if constexpr (sizeof(vector) == 64)                                                                           \
          if (past) return stream_line(to, mapped);                                                                   \
        vector row;                                                                                                   \
        __builtin_memcpy(&row, mapped, sizeof(vector));                                                               \
        __builtin_memcpy(to, &row, sizeof(vector));                                                                   \
      }                                                                                                               \
    };

OSTRAKA_DETAIL_MAP_SQUARES(maps_of_16_bytes, , squares_of_16_bytes)
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
OSTRAKA_DETAIL_MAP_SQUARES(maps_of_32_bytes, OSTRAKA_DETAIL_AVX2, squares_of_32_bytes)
OSTRAKA_DETAIL_MAP_SQUARES(maps_of_64_bytes, OSTRAKA_DETAIL_AVX512, squares_of_64_bytes)
#endif
#undef OSTRAKA_DETAIL_MAP_SQUARES

/// By these squares as much of the tile as they fill.
template <class Maps, class F, class T, int count>
bool maps_by(part_of_tile& done, F const& f, square_operands<T, count> const& in, T* to, std::int64_t to_step,
             bool past, std::int64_t rows, std::int64_t length) {
  if (rows < Maps::side || length < Maps::side) return false;
  done = {rows / Maps::side * Maps::side, length / Maps::side * Maps::side};
  Maps::map(f, in, to, to_step, past, done.rows, done.length);
  return true;
}

#endif

/// What was done of a tile by squares; past the caches only where their rows are whole lines.
template <class F, class T, int count>
part_of_tile map_squares([[maybe_unused]] F const& f, [[maybe_unused]] square_operands<T, count> const& in,
                         [[maybe_unused]] T* to, [[maybe_unused]] std::int64_t to_step, [[maybe_unused]] bool past,
                         [[maybe_unused]] std::int64_t rows, [[maybe_unused]] std::int64_t length) {
  part_of_tile done;
#if OSTRAKA_DETAIL_TURNS_IN_REGISTERS
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  if (past && (bytes_to_line(to) != 0 || to_step % elements_of_line<T> != 0)) return done;
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
  vector_width const widest = widest_vectors();
  if (widest == vector_width::avx512 && maps_by<maps_of_64_bytes<T>>(done, f, in, to, to_step, past, rows, length))
    return done;
  if (!past && widest != vector_width::plain &&
      maps_by<maps_of_32_bytes<T>>(done, f, in, to, to_step, past, rows, length))
    return done;
#  endif
  if (!past) maps_by<maps_of_16_bytes<T>>(done, f, in, to, to_step, past, rows, length);
#endif
  return done;
}

}  // namespace ostraka::engine::detail
