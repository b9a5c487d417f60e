// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Transposes a small matrix on the host: B[j, i] = A[i, j], where i is contiguous in B and j in A. In
/// registers (transpose_tiles.hpp) if it is large enough.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/x86/transpose_tiles.hpp>

namespace ostraka::engine::detail {

/// Room for what is turned, of which nothing is set beforehand: it is larger than what most tiles need.
template <class T, std::int64_t elements>
struct tile_room {
  alignas(64) unsigned char bytes[static_cast<std::size_t>(elements) * sizeof(T)];
  T* data() { return reinterpret_cast<T*>(bytes); }
};

/// to[j to_step + i] = from[i from_step + j] for i < height, j < width, a cache line of j after the other, along i in
/// each.
template <class T>
void turn_each(T* to, std::int64_t to_step, T const* from, std::int64_t from_step, std::int64_t height,
               std::int64_t width) {
  constexpr std::int64_t line = elements_of_line<T>;
  for (std::int64_t begin = 0; begin < width; begin += line) {
    std::int64_t const end = begin + line < width ? begin + line : width;
    for (std::int64_t i = 0; i < height; ++i)
      for (std::int64_t j = begin; j < end; ++j) to[j * to_step + i] = from[i * from_step + j];
  }
}

#if OSTRAKA_DETAIL_TURNS_IN_REGISTERS

/// Elements are turned as numbers of their size.
template <class T>
using word_of = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

/// By these squares if the matrix is at least as large as one.
template <class Squares, class T>
bool turns_by(T* to, std::int64_t to_step, T const* from, std::int64_t from_step, std::int64_t height,
              std::int64_t width) {
  if (height < Squares::side || width < Squares::side) return false;
  Squares::turn(reinterpret_cast<word_of<T>*>(to), to_step, reinterpret_cast<word_of<T> const*>(from), from_step,
                height, width);
  return true;
}

#endif

/// to[j to_step + i] = from[i from_step + j] for i < height, j < width.
template <class T>
void turn(T* to, std::int64_t to_step, T const* from, std::int64_t from_step, std::int64_t height, std::int64_t width) {
#if OSTRAKA_DETAIL_TURNS_IN_REGISTERS
  if constexpr (sizeof(T) == sizeof(word_of<T>)) {
    using word = word_of<T>;
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
    if constexpr (sizeof(T) >= 4) {  // as many rows of smaller elements are more than there are registers
      vector_width const widest = widest_vectors();
      if (widest == vector_width::avx512 &&
          turns_by<squares_of_64_bytes<word>>(to, to_step, from, from_step, height, width))
        return;
      if (widest != vector_width::plain &&
          turns_by<squares_of_32_bytes<word>>(to, to_step, from, from_step, height, width))
        return;
    }
#endif
    if (turns_by<squares_of_16_bytes<word>>(to, to_step, from, from_step, height, width)) return;
  }
#endif
  turn_each(to, to_step, from, from_step, height, width);
}

}  // namespace ostraka::engine::detail
