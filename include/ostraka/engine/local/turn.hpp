// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Transposes a small matrix on the host: B[j, i] = A[i, j], where i is contiguous in B and j in A. Squares that fit into registers are turned
/// there (16 bytes a side, which every 64-bit processor has), so that both sides are read and written whole vectors at a time.

#include <cstdint>

#if defined(__has_builtin) && !defined(__CUDACC__)
#if __has_builtin(__builtin_shufflevector)
#define OSTRAKA_DETAIL_TURNS_IN_REGISTERS 1
#endif
#endif

namespace ostraka::engine::detail {

/// Elements of a cache line.
template <class T>
inline constexpr std::int64_t elements_of_line = sizeof(T) < 64 ? 64 / static_cast<std::int64_t>(sizeof(T)) : 1;

#if OSTRAKA_DETAIL_TURNS_IN_REGISTERS
/// Side of the square that is turned in registers.
template <class T>
inline constexpr int square_side = sizeof(T) == 4 ? 4 : sizeof(T) == 8 ? 2 : 1;
#else
template <class T>
inline constexpr int square_side = 1;
#endif

template <class T>
void turn_square(T* to, std::int64_t to_step, T const* from, std::int64_t from_step) {
#if OSTRAKA_DETAIL_TURNS_IN_REGISTERS
  if constexpr (square_side<T> == 2) {
    typedef std::uint64_t pair __attribute__((vector_size(16)));
    pair row[2];
    for (int i = 0; i < 2; ++i) __builtin_memcpy(&row[i], static_cast<void const*>(from + i * from_step), 16);
    pair const column[2] = {__builtin_shufflevector(row[0], row[1], 0, 2), __builtin_shufflevector(row[0], row[1], 1, 3)};
    for (int j = 0; j < 2; ++j) __builtin_memcpy(static_cast<void*>(to + j * to_step), &column[j], 16);
    return;
  } else if constexpr (square_side<T> == 4) {
    typedef std::uint32_t quad __attribute__((vector_size(16)));
    quad row[4];
    for (int i = 0; i < 4; ++i) __builtin_memcpy(&row[i], static_cast<void const*>(from + i * from_step), 16);
    quad const low01 = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5), low23 = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
    quad const high01 = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7), high23 = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
    quad const column[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5), __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                            __builtin_shufflevector(high01, high23, 0, 1, 4, 5), __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
    for (int j = 0; j < 4; ++j) __builtin_memcpy(static_cast<void*>(to + j * to_step), &column[j], 16);
    return;
  }
#endif
  *to = *from;
}

/// to[j to_step + i] = from[i from_step + j] for i < height, j < width, a cache line of j after the other, along i in each.
template <class T>
void turn(T* to, std::int64_t to_step, T const* from, std::int64_t from_step, std::int64_t height, std::int64_t width) {
  constexpr std::int64_t line = elements_of_line<T>;
  constexpr std::int64_t side = square_side<T>;
  std::int64_t const whole = height / side * side;
  for (std::int64_t begin = 0; begin < width; begin += line) {
    std::int64_t const end = begin + line < width ? begin + line : width;
    std::int64_t const squares_end = begin + (end - begin) / side * side;
    for (std::int64_t i = 0; i < whole; i += side) {
      for (std::int64_t j = begin; j < squares_end; j += side) turn_square(to + j * to_step + i, to_step, from + i * from_step + j, from_step);
      for (std::int64_t j = squares_end; j < end; ++j)
        for (std::int64_t l = i; l < i + side; ++l) to[j * to_step + l] = from[l * from_step + j];
    }
    for (std::int64_t j = begin; j < end; ++j)
      for (std::int64_t i = whole; i < height; ++i) to[j * to_step + i] = from[i * from_step + j];
  }
}

}  // namespace ostraka::engine::detail
