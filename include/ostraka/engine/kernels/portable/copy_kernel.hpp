// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The kernels behind copy_strided.hpp: runs if both sides have the same innermost loop, tiles if one side is
/// the transpose of the other, and one element per thread on devices with thousands of threads. A[I, J] := B[J, I].

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/item_cut.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/kernels/portable/transpose_matrix.hpp>

namespace ostraka::engine::detail {

/// Copies one element per call, in the order of the destination.
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

/// to[-i] = from[i], with reversed wide vectors. The runs do not overlap.
template <class T>
void copy_reversed(T* to, T const* from, std::int64_t count) {
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {  // 16-bit floats are classes, which do not vectorise
    using bits [[gnu::may_alias]] = std::uint16_t;
    copy_reversed(reinterpret_cast<bits*>(to), reinterpret_cast<bits const*>(from), count);
  } else {
    auto const all = [=] { for_each_independent(count, [=](std::int64_t i) { to[-i] = from[i]; }); };
    if (count < 64)
      all();
    else
      with_wide_vectors(all);
  }
}

/// Copies pieces of runs, for sides with the same innermost loop. An item takes many short runs or a piece of a long
/// one.
template <class T>
struct copy_runs {
  T* to;
  T const* from;
  item_cut cut;
  loop_nest<2> runs;  // the loops over the runs
  std::int64_t to_step;
  std::int64_t from_step;

  /// Runs along loop `inner`.
  copy_runs(T* target, T const* source, loop_nest<2> const& loops, int inner)
      : to(target),
        from(source),
        runs(loops.without(inner)),
        to_step(loops.stride[0][inner]),
        from_step(loops.stride[1][inner]) {
    cut = item_cut::of_runs(runs.size(), loops.extent[inner]);
  }

  void operator()(std::int64_t item) const {
    cut.for_each_piece(item, runs, [&](std::int64_t const (&at)[2], std::int64_t begin, std::int64_t count) {
      T* const target = to + at[0] + begin * to_step;
      T const* const source = from + at[1] + begin * from_step;
      if (to_step == 1 && from_step == 1 && count * std::int64_t{sizeof(T)} >= 128)
        std::copy_n(source, count, target);  // memcpy, which writes runs in the best way
      else if (to_step == 1 && from_step == 1)
        for (std::int64_t i = 0; i < count; ++i) target[i] = source[i];
      else if (to_step == 1 && from_step == 0)
        for (std::int64_t i = 0; i < count; ++i) target[i] = source[0];
      else if (to_step == -1 && from_step == 1)
        copy_reversed(target, source, count);
      else
        for (std::int64_t i = 0; i < count; ++i) target[i * to_step] = source[i * from_step];
    });
  }
};

/// Copies tiles over the two loops that are innermost in the destination and in the source, so that the cache lines of
/// both are used whole.
template <class T>
struct copy_tiles {
  static constexpr std::int64_t height = 256, width = 32;

  T* to;
  T const* from;
  item_cut cut;        // of the tiles
  loop_nest<2> tiles;  // over the other loops, and over the tiles
  int tile_loop[2];    // the tile loops among them; -1 if there is one tile
  std::int64_t extent[2];  // of the loop that is innermost in the destination, and of the one in the source
  std::int64_t to_step[2];
  std::int64_t from_step[2];

  void operator()(std::int64_t item) const {
    std::int64_t const end = cut.end(item);
    loop_walker<2> walker(tiles, cut.begin(item));
    for (std::int64_t tile = cut.begin(item); tile < end; ++tile, walker.next()) {
      std::int64_t const begin_i = tile_loop[0] < 0 ? 0 : walker.index[tile_loop[0]] * height;
      std::int64_t const begin_j = tile_loop[1] < 0 ? 0 : walker.index[tile_loop[1]] * width;
      std::int64_t const high = extent[0] - begin_i < height ? extent[0] - begin_i : height;
      std::int64_t const wide = extent[1] - begin_j < width ? extent[1] - begin_j : width;
      copy_tile(to + walker.offset[0], from + walker.offset[1], high, wide);
    }
  }

  void copy_tile(T* target, T const* source, std::int64_t high, std::int64_t wide) const {
    if (to_step[0] == 1 && from_step[1] == 1) return transpose(target, to_step[1], source, from_step[0], high, wide);
    constexpr std::int64_t line = elements_of_line<T>;
    for (std::int64_t begin = 0; begin < wide; begin += line)
      for (std::int64_t i = 0; i < high; ++i)
        for (std::int64_t j = begin; j < wide && j < begin + line; ++j)
          target[i * to_step[0] + j * to_step[1]] = source[i * from_step[0] + j * from_step[1]];
  }
};

/// Fills runs with one value.
template <class T>
struct fill_runs {
  T* to;
  item_cut cut;
  loop_nest<1> runs;
  std::int64_t step;
  T value;

  /// Runs along loop `inner`.
  fill_runs(T* target, loop_nest<1> const& loops, int inner, T const& of_all)
      : to(target), runs(loops.without(inner)), step(loops.stride[0][inner]), value(of_all) {
    cut = item_cut::of_runs(runs.size(), loops.extent[inner]);
  }

  void operator()(std::int64_t item) const {
    cut.for_each_piece(item, runs, [&](std::int64_t const (&at)[1], std::int64_t begin, std::int64_t count) {
      T* const target = to + at[0] + begin * step;
      T const x = value;
      if (step == 1) {
        for_each_independent(count, [=](std::int64_t i) { target[i] = x; });
      } else {
        for (std::int64_t i = 0; i < count; ++i) target[i * step] = x;
      }
    });
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
