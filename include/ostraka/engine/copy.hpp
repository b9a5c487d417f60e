// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Copies and fills of strided blocks in one memory space: slicing, packing, transposing.
/// A[I_X, J] sliced from A[I, J] is such a copy; so is the packing of what an all-to-all sends.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/copy_kernel.hpp>
#include <ostraka/engine/parallel.hpp>
#include <ostraka/engine/strided.hpp>

namespace ostraka::engine {

namespace detail {

/// Runs where the two blocks are walked alike, tiles where they are not.
template <class Exec, class T>
void copy_on_host(Exec const& exec, T* to, T const* from, loop_nest<2> const& loops) {
  std::int64_t const elements = loops.size();
  if (loops.rank == 0) {
    for_each_item("ostraka copy", exec, 1, 1, copy_elements<T>{to, from, loops});
    return;
  }
  int const inner = loops.rank - 1;  // of the destination
  int source_inner = inner;
  for (int d = 0; d < inner; ++d)
    if (loops.stride[1][d] != 0 && loops.stride[1][d] < loops.stride[1][source_inner]) source_inner = d;

  if (source_inner == inner) {
    copy_runs<T> const runs{to, from, loops.without(inner), loops.extent[inner], loops.stride[0][inner], loops.stride[1][inner]};
    for_each_item("ostraka copy runs", exec, runs.outer.size() * runs.pieces(), elements, runs);
  } else {
    copy_tiles<T> const tiles{to,
                              from,
                              loops.without(inner).without(source_inner),
                              {loops.extent[inner], loops.extent[source_inner]},
                              {loops.stride[0][inner], loops.stride[0][source_inner]},
                              {loops.stride[1][inner], loops.stride[1][source_inner]}};
    for_each_item("ostraka copy tiles", exec, tiles.outer.size() * tiles.tiles(0) * tiles.tiles(1), elements, tiles);
  }
}

}  // namespace detail

/// to[…] = from[…] for every index. Both have the same extents, the blocks do not overlap; a stride of 0 in the source repeats it.
template <class Exec, class T>
void copy(Exec const& exec, T* to, strided const& to_layout, T const* from, strided const& from_layout) {
  std::int64_t const elements = to_layout.size();
  if (elements == 0) return;
  loop_nest<2> const loops = loops_over(to_layout, from_layout);
  if constexpr (runs_on_host<Exec>)
    detail::copy_on_host(exec, to, from, loops);
  else
    for_each_item("ostraka copy", exec, elements, elements, detail::copy_elements<T>{to, from, loops});
}

/// to[…] = value for every index of the block.
template <class Exec, class T>
void fill(Exec const& exec, T* to, strided const& layout, T value) {
  loop_nest<1> loops;
  for (int d = 0; d < layout.rank; ++d) loops.add(layout.extent[d], layout.stride[d]);
  loops.order_by(0);
  loops.merge();
  std::int64_t const elements = layout.size();
  for_each_item("ostraka fill", exec, elements, elements, detail::fill_elements<T>{to, loops, value});
}

/// to[i] = value for i in [0, count).
template <class Exec, class T>
void fill(Exec const& exec, T* to, std::int64_t count, T value) {
  fill(exec, to, row_major({count}), value);
}

}  // namespace ostraka::engine
