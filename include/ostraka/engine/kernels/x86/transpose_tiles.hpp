// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Transposes matrices in square tiles that fit into registers: reads rows and writes columns as whole
/// vectors, the widest that the matrix fills. Code that reads the transposed data soon should find each of its vectors
/// in a single store. So the ends of rows are not transposed element by element: if the length is not a multiple of the
/// tile, the last tile overlaps the previous one, and is written first.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/kernels/loops/vectors.hpp>

namespace ostraka::engine::detail {

// Unrolls all loops of a tile, which GCC does not do with -O2, so that its vectors are registers.
#define OSTRAKA_DETAIL_UNROLL _Pragma("GCC unroll 16")

// A macro because the compiler splits vectors according to the function in which they are written, before it inlines
// that function. interleave: interleaves, in each 16 bytes, the first halves of x and y element by element, and the
// second halves; log2(lane) such steps transpose the tile of each 16 bytes. exchange_all: transposes the tile of these
// tiles.
#define OSTRAKA_DETAIL_TRANSPOSE_TILES(name, attribute, bytes)                                                      \
  template <class Word>                                                                                             \
  struct name {                                                                                                     \
    static constexpr int side = bytes / static_cast<int>(sizeof(Word)), lane = 16 / static_cast<int>(sizeof(Word)); \
    typedef Word vector __attribute__((vector_size(bytes)));                                                        \
                                                                                                                    \
    template <int... k>                                                                                             \
    attribute __attribute__((always_inline)) static inline void interleave(vector& x, vector& y,                    \
                                                                           std::integer_sequence<int, k...>) {      \
      vector const first = __builtin_shufflevector(x, y, (k % 2 * side + k / lane * lane + k % lane / 2)...);       \
      y = __builtin_shufflevector(x, y, (k % 2 * side + k / lane * lane + k % lane / 2 + lane / 2)...);             \
      x = first;                                                                                                    \
    }                                                                                                               \
    template <int apart, int... k>                                                                                  \
    attribute __attribute__((always_inline)) static inline void exchange(vector& x, vector& y,                      \
                                                                         std::integer_sequence<int, k...>) {        \
      vector const first = __builtin_shufflevector(x, y, (k / lane & apart ? k + side - apart * lane : k)...);      \
      y = __builtin_shufflevector(x, y, (k / lane & apart ? k + side : k + apart * lane)...);                       \
      x = first;                                                                                                    \
    }                                                                                                               \
    template <int apart>                                                                                            \
    attribute __attribute__((always_inline)) static inline void exchange_all(vector* row) {                         \
      if constexpr (apart * lane < side) {                                                                          \
        OSTRAKA_DETAIL_UNROLL                                                                                       \
        for (int i = 0; i < side; ++i)                                                                              \
          if (!(i / lane & apart))                                                                                  \
            exchange<apart>(row[i], row[i + apart * lane], std::make_integer_sequence<int, side>{});                \
      }                                                                                                             \
    }                                                                                                               \
    attribute static void transpose(Word* to, std::int64_t to_step, Word const* from, std::int64_t from_step) {     \
      vector row[side], next[side];                                                                                 \
      OSTRAKA_DETAIL_UNROLL                                                                                         \
      for (int i = 0; i < side; ++i) __builtin_memcpy(&row[i], from + i * from_step, bytes);                        \
      OSTRAKA_DETAIL_UNROLL                                                                                         \
      for (int step = 1; step < lane; step *= 2) {                                                                  \
        OSTRAKA_DETAIL_UNROLL                                                                                       \
        for (int pair = 0; pair < side / 2; ++pair) {                                                               \
          int const first = pair / (lane / 2) * lane, i = pair % (lane / 2);                                        \
          interleave(row[first + i], row[first + i + lane / 2], std::make_integer_sequence<int, side>{});           \
          next[first + 2 * i] = row[first + i], next[first + 2 * i + 1] = row[first + i + lane / 2];                \
        }                                                                                                           \
        OSTRAKA_DETAIL_UNROLL                                                                                       \
        for (int i = 0; i < side; ++i) row[i] = next[i];                                                            \
      }                                                                                                             \
      exchange_all<1>(row);                                                                                         \
      exchange_all<2>(row);                                                                                         \
      OSTRAKA_DETAIL_UNROLL                                                                                         \
      for (int j = 0; j < side; ++j) __builtin_memcpy(to + j * to_step, &row[j], bytes);                            \
    }                                                                                                               \
  };

OSTRAKA_DETAIL_TRANSPOSE_TILES(tiles_of_16_bytes, , 16)
OSTRAKA_DETAIL_TRANSPOSE_TILES(tiles_of_32_bytes, OSTRAKA_DETAIL_AVX2, 32)
OSTRAKA_DETAIL_TRANSPOSE_TILES(tiles_of_64_bytes, OSTRAKA_DETAIL_AVX512, 64)
#undef OSTRAKA_DETAIL_TRANSPOSE_TILES
#undef OSTRAKA_DETAIL_UNROLL

/// Transposes with these tiles, `together` j at a time; false if either side is shorter than a tile. It prefetches rows
/// of several cache lines while it transposes the previous ones, since rows may be pages apart, where no processor
/// predicts them.
template <class Tiles, class Word>
bool transpose_by(Word* to, std::int64_t to_step, Word const* from, std::int64_t from_step, std::int64_t height,
                  std::int64_t width, std::int64_t together) {
  constexpr std::int64_t side = Tiles::side;
  if (height < side || width < side) return false;
  bool const are_long = std::min(together, width) > elements_of_line<Word>;
  for (std::int64_t begin = 0; begin < width; begin += together) {
    std::int64_t const end = begin + together < width ? begin + together : width;
    for (std::int64_t next = height % side ? -side : 0; next + side <= height; next += side) {
      std::int64_t const i = next < 0 ? height - side : next;
      for (std::int64_t r = i + side; are_long && r < i + 2 * side && r < height; ++r)
        prefetch(from + r * from_step + begin, end - begin);
      for (std::int64_t begins = begin; begins < end; begins += side) {
        std::int64_t const j = begins + side < width ? begins : width - side;
        Tiles::transpose(to + j * to_step + i, to_step, from + i * from_step + j, from_step);
      }
    }
  }
  return true;
}

/// to[j to_step + i] = from[i from_step + j] for i < height, j < width, with the widest tiles that the processor
/// supports and the matrix fills; false if the matrix is smaller than a tile, or its elements are not 1, 2, 4 or 8
/// bytes.
template <class T>
bool transpose_in_registers([[maybe_unused]] T* to, [[maybe_unused]] std::int64_t to_step,
                            [[maybe_unused]] T const* from, [[maybe_unused]] std::int64_t from_step,
                            [[maybe_unused]] std::int64_t height, [[maybe_unused]] std::int64_t width,
                            [[maybe_unused]] std::int64_t together) {
  using word = std::conditional_t<
      sizeof(T) == 8, std::uint64_t,
      std::conditional_t<sizeof(T) == 4, std::uint32_t,
                         std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
  if constexpr (sizeof(T) == sizeof(word)) {
    word* const words = reinterpret_cast<word*>(to);
    word const* const source = reinterpret_cast<word const*>(from);
    if constexpr (sizeof(T) >= 4) {  // a tile of smaller elements would need more rows than there are registers
      vector_width const widest = widest_vectors();
      if (widest == vector_width::avx512 &&
          transpose_by<tiles_of_64_bytes<word>>(words, to_step, source, from_step, height, width, together))
        return true;
      if (widest != vector_width::plain &&
          transpose_by<tiles_of_32_bytes<word>>(words, to_step, source, from_step, height, width, together))
        return true;
    }
    return transpose_by<tiles_of_16_bytes<word>>(words, to_step, source, from_step, height, width, together);
  }
  return false;
}

}  // namespace ostraka::engine::detail
