// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Elements brought together from anywhere, and less than a vector of neighbours moved, by the masks and
/// gathers of AVX-512: what panels are packed with, and tiles written, where extents are a few elements (C[a, b, c, d]
/// = A[a, e, b, f] B[d, f, c, e] with ten values each). By the compiler's names for the instructions, which g++ and
/// clang share, since <immintrin.h> takes as long to compile as most of our headers together.

#include <cstdint>

#include <ostraka/engine/kernels/loop_nest.hpp>
#include <ostraka/engine/kernels/x86/wide.hpp>

#if OSTRAKA_DETAIL_ASKS_PROCESSOR && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define OSTRAKA_DETAIL_PACKS_BY_VECTORS 1
#endif
#endif

namespace ostraka::engine::detail {

#ifdef OSTRAKA_DETAIL_PACKS_BY_VECTORS

template <int count>
struct vector_lanes {
  static constexpr int lanes = count;

  /// The mask of so many elements, all if there are more.
  static unsigned first(int elements) {
    return elements >= lanes ? (1u << lanes) - 1 : elements > 0 ? (1u << elements) - 1 : 0;
  }
};

/// Vectors as these instructions name them; they move bits, whatever they mean.
template <int bytes>
struct masked_words;

template <>
struct masked_words<8> : vector_lanes<8> {
  typedef double vector __attribute__((vector_size(64)));
  typedef long long offsets __attribute__((vector_size(64)));
  typedef double eight __attribute__((vector_size(64)));

  OSTRAKA_DETAIL_AVX512 static inline vector load(void const* from, unsigned mask) {
    return __builtin_ia32_loadupd512_mask(static_cast<double const*>(from), vector{}, static_cast<unsigned char>(mask));
  }
  OSTRAKA_DETAIL_AVX512 static inline void store(void* to, vector x, unsigned mask) {
    __builtin_ia32_storeupd512_mask(static_cast<double*>(to), x, static_cast<unsigned char>(mask));
  }
  /// Eight elements from `from` plus these offsets.
  OSTRAKA_DETAIL_AVX512 static inline eight gather(void const* from, offsets at, unsigned mask) {
    return __builtin_ia32_gatherdiv8df(eight{}, static_cast<double const*>(from), at, static_cast<unsigned char>(mask),
                                       8);
  }
  OSTRAKA_DETAIL_AVX512 static inline void store_eight(void* to, eight x, unsigned mask) { store(to, x, mask); }
};

template <>
struct masked_words<4> : vector_lanes<16> {
  typedef float vector __attribute__((vector_size(64)));
  typedef long long offsets __attribute__((vector_size(64)));
  typedef float eight __attribute__((vector_size(32)));

  OSTRAKA_DETAIL_AVX512 static inline vector load(void const* from, unsigned mask) {
    return __builtin_ia32_loadups512_mask(static_cast<float const*>(from), vector{}, static_cast<unsigned short>(mask));
  }
  OSTRAKA_DETAIL_AVX512 static inline void store(void* to, vector x, unsigned mask) {
    __builtin_ia32_storeups512_mask(static_cast<float*>(to), x, static_cast<unsigned short>(mask));
  }
  OSTRAKA_DETAIL_AVX512 static inline eight gather(void const* from, offsets at, unsigned mask) {
    return __builtin_ia32_gatherdiv16sf(eight{}, static_cast<float const*>(from), at, static_cast<unsigned char>(mask),
                                        4);
  }
  OSTRAKA_DETAIL_AVX512 static inline void store_eight(void* to, eight x, unsigned mask) {
    store(to, __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1), mask);
  }
};

/// Where `count` iterations from `first` stand in both operands, and bit i of `jumps` where iteration i does not follow
/// the one before in the second. Eight at a time, so that up to seven more are written.
OSTRAKA_DETAIL_AVX512 inline void walk_64(std::int64_t* at, std::int64_t* other_at, unsigned char* jumps,
                                          loop_nest<2> const& loops, std::int64_t first, int count) {
  using offsets = masked_words<8>::offsets;
  int const inner = loops.rank - 1;
  std::int64_t const step = inner >= 0 ? loops.stride[0][inner] : 0,
                     other_step = inner >= 0 ? loops.stride[1][inner] : 0;
  constexpr offsets lanes{0, 1, 2, 3, 4, 5, 6, 7};
  offsets const along = lanes * step, other_along = lanes * other_step;
  loop_walker<2> walker(loops, first);
  for (int i = 0, run = 0; i < count; i += run, walker.skip(run)) {
    std::int64_t const left = inner >= 0 ? loops.extent[inner] - walker.index[inner] : 1;
    run = left < count - i ? static_cast<int>(left) : count - i;
    offsets x = along + walker.offset[0], y = other_along + walker.offset[1];
    for (int r = 0; r < run; r += 8, x += 8 * step, y += 8 * other_step) {
      __builtin_memcpy(at + i + r, &x, sizeof(x));
      __builtin_memcpy(other_at + i + r, &y, sizeof(y));
    }
  }
  std::int64_t const before = other_at[0] - 1;
  for (int i = 0; i < count; i += 8) {
    offsets here, previous;
    __builtin_memcpy(&here, other_at + i, sizeof(here));
    if (i > 0) __builtin_memcpy(&previous, other_at + i - 1, sizeof(previous));
    else previous = offsets{before, here[0], here[1], here[2], here[3], here[4], here[5], here[6]};
    jumps[i / 8] = static_cast<unsigned char>(
        __builtin_ia32_cmpq512_mask(here - previous, offsets{} + 1, 4, 255));  // 4: not equal
  }
}

/// panel[l, i] = from[at[i] + k_at[l]] for i < eights * 8. A line after the other, which spreads what the first ones
/// fetch for all.
template <class T, int eights>
OSTRAKA_DETAIL_AVX512 void gather_lines_64(T* panel, T const* from, std::int64_t const* at, std::int64_t const* k_at,
                                           int depth) {
  using words = masked_words<static_cast<int>(sizeof(T))>;
  typename words::offsets offsets[eights];
  __builtin_memcpy(offsets, at, sizeof(offsets));
  for (int l = 0; l < depth; ++l, panel += 8 * eights)
    _Pragma("GCC unroll 6") for (int i = 0; i < eights; ++i)
        words::store_eight(panel + 8 * i, words::gather(from + k_at[l], offsets[i], 255), 255);
}

/// panel[l, i] = from[at[i] + k_at[l]] for i < count, 0 up to `width`.
template <class T>
OSTRAKA_DETAIL_AVX512 void gather_panel_64(T* panel, int width, T const* from, std::int64_t const* at, int count,
                                           std::int64_t const* k_at, int depth) {
  using words = masked_words<static_cast<int>(sizeof(T))>;
  constexpr int eights = 3 * words::lanes / 8;  // of the widest panel
  if (count == 8 * eights && width == count) return gather_lines_64<T, eights>(panel, from, at, k_at, depth);
  for (int i = 0; i < width; i += 8) {
    unsigned const filled = masked_words<8>::first(count - i), written = masked_words<8>::first(width - i);
    typename words::offsets offsets{};
    if (i + 8 <= count) __builtin_memcpy(&offsets, at + i, sizeof(offsets));
    else
      for (int j = i; j < count; ++j) offsets[j - i] = at[j];
    T* to = panel + i;
    for (int l = 0; l < depth; ++l, to += width)
      words::store_eight(to, words::gather(from + k_at[l], offsets, filled), written);
  }
}

/// panel[l, i] = from[k_at[l] + i] for i < count, a vector at most.
template <class T>
OSTRAKA_DETAIL_AVX512 void pack_piece_64(T* panel, int width, T const* from, int count, std::int64_t const* k_at,
                                         int depth) {
  using words = masked_words<static_cast<int>(sizeof(T))>;
  unsigned const mask = words::first(count);
  for (int l = 0; l < depth; ++l, panel += width) words::store(panel, words::load(from + k_at[l], mask), mask);
}

/// c[row_at[i] + column_at[j]] = tile[i, j], or is added to, for j < width <= 64; `breaks` as of offsets_of_run. A
/// vector of the tile is read as it was stored, whole: a load that meets two stores, or half of one, waits until they
/// are in the cache.
template <class T>
OSTRAKA_DETAIL_AVX512 void write_runs_64(T* c, std::int64_t const* row_at, int height, std::int64_t const* column_at,
                                         int width, std::uint64_t breaks, T const* tile, int tile_step, bool adds) {
  using words = masked_words<static_cast<int>(sizeof(T))>;
  typedef T vector __attribute__((vector_size(64)));
  constexpr std::uint64_t vectors = words::lanes == 8 ? 0x0101010101010101 : 0x0001000100010001;
  std::uint64_t begins = (breaks | vectors) & ~std::uint64_t(0) >> (64 - width);
  while (begins) {
    int const j = __builtin_ctzll(begins), lane = j % words::lanes;
    begins &= begins - 1;
    int const end = begins ? __builtin_ctzll(begins) : width;
    unsigned const mask = words::first(end - j) << lane;
    T const* from = tile + (j - lane);
    T* const piece = c + (column_at[j] - lane);
    for (int i = 0; i < height; ++i, from += tile_step) {
      T* const to = piece + row_at[i];
      vector x;
      __builtin_memcpy(&x, from, sizeof(x));
      if (adds) x += reinterpret_cast<vector>(words::load(to, mask));
      words::store(to, reinterpret_cast<typename words::vector>(x), mask);
    }
  }
}

#endif

}  // namespace ostraka::engine::detail
