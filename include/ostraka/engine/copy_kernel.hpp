// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The kernels behind copy.hpp: runs where both sides are walked alike, tiles where one side is the transpose of the other,
/// and one element a thread where there are thousands of threads. A[I, J] := B[J, I].

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/loop_nest.hpp>

namespace ostraka::engine::detail {

/// One element a call, in the order of the destination.
template <class T>
struct copy_elements {
  T* to;
  T const* from;
  loop_nest<2> loops;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t at[2];
    loops.locate(i, at);
    to[at[0]] = from[at[1]];
  }
};

/// One piece of the innermost loop a call; pieces bound the work of a call when there is one long run only.
template <class T>
struct copy_runs {
  static constexpr std::int64_t piece = 4096;

  T* to;
  T const* from;
  loop_nest<2> outer;
  std::int64_t length;
  std::int64_t to_step;
  std::int64_t from_step;

  KOKKOS_INLINE_FUNCTION std::int64_t pieces() const { return (length + piece - 1) / piece; }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t at[2];
    outer.locate(item / pieces(), at);
    std::int64_t const begin = item % pieces() * piece;
    std::int64_t const count = length - begin < piece ? length - begin : piece;
    T* const target = to + at[0] + begin * to_step;
    T const* const source = from + at[1] + begin * from_step;
    if (to_step == 1 && from_step == 1)
      for (std::int64_t i = 0; i < count; ++i) target[i] = source[i];
    else
      for (std::int64_t i = 0; i < count; ++i) target[i * to_step] = source[i * from_step];
  }
};

/// One square tile a call, of the two loops that are innermost in the destination and in the source: the cache lines of both are used whole.
template <class T>
struct copy_tiles {
  static constexpr std::int64_t side = 32;

  T* to;
  T const* from;
  loop_nest<2> outer;
  std::int64_t extent[2];     // of the loop that is innermost in the destination, and of the one in the source
  std::int64_t to_step[2];
  std::int64_t from_step[2];

  KOKKOS_INLINE_FUNCTION std::int64_t tiles(int d) const { return (extent[d] + side - 1) / side; }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t at[2];
    outer.locate(item / (tiles(0) * tiles(1)), at);
    std::int64_t const tile = item % (tiles(0) * tiles(1));
    std::int64_t const begin0 = tile % tiles(0) * side;
    std::int64_t const begin1 = tile / tiles(0) * side;
    std::int64_t const end0 = begin0 + side < extent[0] ? begin0 + side : extent[0];
    std::int64_t const end1 = begin1 + side < extent[1] ? begin1 + side : extent[1];
    for (std::int64_t j = begin1; j < end1; ++j) {
      T* const target = to + at[0] + j * to_step[1];
      T const* const source = from + at[1] + j * from_step[1];
      for (std::int64_t i = begin0; i < end0; ++i) target[i * to_step[0]] = source[i * from_step[0]];
    }
  }
};

template <class T>
struct fill_elements {
  T* to;
  loop_nest<1> loops;
  T value;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t at[1];
    loops.locate(i, at);
    to[at[0]] = value;
  }
};

}  // namespace ostraka::engine::detail
