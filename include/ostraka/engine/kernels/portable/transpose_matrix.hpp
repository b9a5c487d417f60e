// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Transposes a small matrix on the host: B[j, i] = A[i, j], where i is contiguous in B and j in A. It uses
/// registers (x86/transpose_tiles.hpp) if there are such kernels and the matrix is large enough.

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/kernels/loops/vectors.hpp>
#if OSTRAKA_DETAIL_X86
#include <ostraka/engine/kernels/x86/transpose_tiles.hpp>
#endif

namespace ostraka::engine::detail {

/// Uninitialised memory for a transposed tile, since most tiles need less.
template <class T, std::int64_t elements>
struct tile_buffer {
  alignas(64) unsigned char bytes[static_cast<std::size_t>(elements) * sizeof(T)];
  T* data() { return reinterpret_cast<T*>(bytes); }
};

/// to[j to_step + i] = from[i from_step + j] for i < height, j < width: `together` values of j at a time, along i for
/// each of them. With a cache line of j at a time, memory is written forward. With all j at once, each row is read
/// before other rows, which may be pages apart, evict the part that the processor has prefetched; use this for tiles
/// that a cache holds.
template <class T>
void transpose(T* to, std::int64_t to_step, T const* from, std::int64_t from_step, std::int64_t height,
               std::int64_t width, std::int64_t together = elements_of_line<T>) {
#if OSTRAKA_DETAIL_X86
  if (transpose_in_registers(to, to_step, from, from_step, height, width, together)) return;
#endif
  for (std::int64_t begin = 0; begin < width; begin += together) {
    std::int64_t const end = begin + together < width ? begin + together : width;
    for (std::int64_t i = 0; i < height; ++i)
      for (std::int64_t j = begin; j < end; ++j) to[j * to_step + i] = from[i * from_step + j];
  }
}

}  // namespace ostraka::engine::detail
