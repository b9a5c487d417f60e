// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Panels for the register tile packed by vectors of AVX-512: lines copied, A[i, l] read along l and written
/// along i, or gathered. While a panel of whole vectors is packed, what the next one needs is fetched, as if it lay
/// behind: a fetch of what is not there does nothing.

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/x86/masked_vectors.hpp>
#include <ostraka/engine/kernels/x86/wide.hpp>

namespace ostraka::engine::detail {

/// Functions that pack panel[l, i], i < width, and write tiles; null, all of them, where there are none for the type
/// and the processor.
template <class T>
struct vector_packing {
  /// panel[l, i] = from[k_at[l] + i] for i < count, 0 up to `width`; or so many panels of neighbours. @pre count is
  /// `width` if panels is not 1
  void (*lines)(T* panel, int width, T const* from, int count, std::int64_t const* k_at, int depth,
                int panels) = nullptr;
  /// panel[l, i] = from[i step + l], i < height. @pre height is a multiple of 4, depth one of `together`
  void (*turned)(T* panel, int width, T const* from, std::int64_t step, int height, int depth) = nullptr;
  /// As of masked_vectors.hpp: from anywhere; neighbours, a vector of them at most; a tile into runs of C.
  void (*gathered)(T* panel, int width, T const* from, std::int64_t const* at, int count, std::int64_t const* k_at,
                   int depth) = nullptr;
  void (*piece)(T* panel, int width, T const* from, int count, std::int64_t const* k_at, int depth) = nullptr;
  void (*write_runs)(T* c, std::int64_t const* row_at, int height, std::int64_t const* column_at, int width,
                     std::uint64_t breaks, T const* tile, int tile_step, bool adds) = nullptr;

  static constexpr int together = 64 / static_cast<int>(sizeof(T) < 64 ? sizeof(T) : 64);
};

#ifdef OSTRAKA_DETAIL_PACKS_BY_VECTORS

template <class T>
OSTRAKA_DETAIL_AVX512 void pack_lines_64(T* panel, int width, T const* from, int count, std::int64_t const* k_at,
                                         int depth, int panels) {
  using words = masked_words<static_cast<int>(sizeof(T))>;
  for (int l = 0; l < depth; ++l, panel += width) {
    T const* line = from + k_at[l];
    T* to = panel;
    for (int p = 0; p < panels; ++p, line += width, to += width * depth)
      for (int i = 0; i < width; i += words::lanes) {
        __builtin_prefetch(line + width * panels + i);
        words::store(to + i, words::load(line + i, words::first(count - i)), words::first(width - i));
      }
  }
}

/// to[l width + i] = from[i step + l], i < 4, l < lanes: neighbours are paired, and the pairs of pairs stored.
template <class T>
OSTRAKA_DETAIL_AVX512 inline void turn_four_64(T* to, std::int64_t width, T const* from, std::int64_t step) {
  typedef T vector __attribute__((vector_size(64)));
  vector row[4];
  for (int i = 0; i < 4; ++i) __builtin_memcpy(&row[i], from + i * step, 64);
  if constexpr (sizeof(T) == 8) {
    vector const even01 = __builtin_shufflevector(row[0], row[1], 0, 8, 2, 10, 4, 12, 6, 14);
    vector const even23 = __builtin_shufflevector(row[2], row[3], 0, 8, 2, 10, 4, 12, 6, 14);
    vector const odd01 = __builtin_shufflevector(row[0], row[1], 1, 9, 3, 11, 5, 13, 7, 15);
    vector const odd23 = __builtin_shufflevector(row[2], row[3], 1, 9, 3, 11, 5, 13, 7, 15);
    vector const lines[4] = {// 0 and 2, 1 and 3, 4 and 6, 5 and 7
                             __builtin_shufflevector(even01, even23, 0, 1, 8, 9, 2, 3, 10, 11),
                             __builtin_shufflevector(odd01, odd23, 0, 1, 8, 9, 2, 3, 10, 11),
                             __builtin_shufflevector(even01, even23, 4, 5, 12, 13, 6, 7, 14, 15),
                             __builtin_shufflevector(odd01, odd23, 4, 5, 12, 13, 6, 7, 14, 15)};
    for (int q = 0; q < 4; ++q) {
      T* const line = to + (q / 2 * 4 + q % 2) * width;
      __builtin_memcpy(line, &lines[q], 32);
      __builtin_memcpy(line + 2 * width, reinterpret_cast<char const*>(&lines[q]) + 32, 32);
    }
  } else {
    vector const low01 =
        __builtin_shufflevector(row[0], row[1], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
    vector const low23 =
        __builtin_shufflevector(row[2], row[3], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
    vector const high01 =
        __builtin_shufflevector(row[0], row[1], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    vector const high23 =
        __builtin_shufflevector(row[2], row[3], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    vector const lines[4] = {  // q, q + 4, q + 8, q + 12
        __builtin_shufflevector(low01, low23, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
        __builtin_shufflevector(low01, low23, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31),
        __builtin_shufflevector(high01, high23, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
        __builtin_shufflevector(high01, high23, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)};
    for (int q = 0; q < 4; ++q)
      for (int quarter = 0; quarter < 4; ++quarter)
        __builtin_memcpy(to + (4 * quarter + q) * width, reinterpret_cast<char const*>(&lines[q]) + 16 * quarter, 16);
  }
}

template <class T>
OSTRAKA_DETAIL_AVX512 void pack_turned_64(T* panel, int width, T const* from, std::int64_t step, int height,
                                          int depth) {
  constexpr int lanes = vector_packing<T>::together;
  for (int l = 0; l < depth; l += lanes)
    for (int i = 0; i < height; i += 4) {
      for (int next = 0; next < 4; ++next) __builtin_prefetch(from + (height + i + next) * step + l);
      turn_four_64(panel + l * width + i, width, from + i * step + l, step);
    }
}

#endif

template <class T>
vector_packing<T> choose_packing() {
#ifdef OSTRAKA_DETAIL_PACKS_BY_VECTORS
  if constexpr (std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8))
    if (widest_vectors() == vector_width::avx512)
      return {pack_lines_64<T>, pack_turned_64<T>, gather_panel_64<T>, pack_piece_64<T>, write_runs_64<T>};
#endif
  return {};
}

}  // namespace ostraka::engine::detail
