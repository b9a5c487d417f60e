// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Loops over several operands: the extents, and, for each operand, the stride of every loop. Loops in which
/// all operands are contiguous are merged, so that A[I, J, K] copied or contracted whole is one run and not three
/// loops.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/plan/blocks/strided_layout.hpp>

// On the host, where code that sets up loops often needs the number of iterations, it is one function and not inlined
// everywhere. On a device, each iteration may need it.
#if defined(__CUDACC__) || defined(__HIPCC__)
#  define OSTRAKA_DETAIL_ONE_FUNCTION KOKKOS_INLINE_FUNCTION
#else
#  define OSTRAKA_DETAIL_ONE_FUNCTION [[gnu::noinline]] inline
#endif

namespace ostraka::engine {

using planner::max_loops;
using planner::row_major;
using planner::strided;

/// Loops over `Operands` operands. Trivially copyable, so that kernels take it directly. Only the first `rank` loops
/// are written: clearing or copying the space for all loops would take longer than many loops run. In a program for a
/// device the rest is cleared, since kernels copy it, and old host addresses must not reach the device.
template <int Operands>
struct loop_nest {
  int rank = 0;
  std::int64_t extent[max_loops];
  std::int64_t stride[Operands][max_loops];

  KOKKOS_INLINE_FUNCTION loop_nest() {
    if constexpr (!std::is_same_v<Kokkos::DefaultExecutionSpace::memory_space, Kokkos::HostSpace>)
      for (int d = 0; d < max_loops; ++d) {
        extent[d] = 0;
        for (int o = 0; o < Operands; ++o) stride[o][d] = 0;
      }
  }

  /// Returns the number of iterations; 1 for no loops.
  OSTRAKA_DETAIL_ONE_FUNCTION std::int64_t size() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extent[d];
    return n;
  }

  /// Adds an innermost loop, unless it has a single iteration.
  template <class... Strides>
  void add(std::int64_t n, Strides... strides) {
    static_assert(sizeof...(Strides) == Operands);
    if (n == 1) return;
    int operand = 0;
    extent[rank] = n;
    ((stride[operand++][rank] = strides), ...);
    ++rank;
  }

  /// Sorts the loops by the strides of this operand, the largest outermost, so that it is read forward; ties by the
  /// other operands' strides.
  [[gnu::noinline]] void order_by(int operand) {
    for (int d = 1; d < rank; ++d)
      for (int e = d; e > 0 && outer(operand, e, e - 1); --e) exchange(e, e - 1);
  }

  /// Merges neighbouring loops in which no operand has a jump.
  [[gnu::noinline]] void merge() {
    int kept = 0;
    for (int d = 1; d < rank; ++d) {
      bool joined = true;
      for (int o = 0; o < Operands; ++o) joined = joined && stride[o][kept] == extent[d] * stride[o][d];
      std::int64_t const before = joined ? extent[kept] : 1;
      if (!joined) ++kept;
      extent[kept] = before * extent[d];
      for (int o = 0; o < Operands; ++o) stride[o][kept] = stride[o][d];
    }
    if (rank > 0) rank = kept + 1;
  }

  /// Computes the offset of iteration `index` (row-major, outermost loop first) in each operand.
  KOKKOS_INLINE_FUNCTION void locate(std::int64_t index, std::int64_t (&offset)[Operands]) const {
    for (int o = 0; o < Operands; ++o) offset[o] = 0;
    for (int d = rank - 1; d >= 0; --d) {
      std::int64_t const i = d == 0 ? index : index % extent[d];
      index /= extent[d];
      for (int o = 0; o < Operands; ++o) offset[o] += i * stride[o][d];
    }
  }

  /// Exchanges operands x and y.
  [[gnu::noinline]] void exchange_operands(int x, int y) {
    for (int d = 0; d < rank; ++d) swap_values(stride[x][d], stride[y][d]);
  }

  /// Makes loop d the innermost.
  [[gnu::noinline]] void make_last(int d) {
    for (; d + 1 < rank; ++d) exchange(d, d + 1);
  }

  /// Removes loop d.
  [[gnu::noinline]] void remove(int d) {
    --rank;
    for (; d < rank; ++d) {
      extent[d] = extent[d + 1];
      for (int o = 0; o < Operands; ++o) stride[o][d] = stride[o][d + 1];
    }
  }

  /// Returns a copy of the first `rank` loops.
  [[nodiscard, gnu::noinline]] loop_nest copied() const {
    loop_nest same;
    same.rank = rank;
    for (int d = 0; d < rank; ++d) {
      same.extent[d] = extent[d];
      for (int o = 0; o < Operands; ++o) same.stride[o][d] = stride[o][d];
    }
    return same;
  }

  /// Returns this loop nest without loop d.
  [[nodiscard]] loop_nest without(int d) const {
    loop_nest rest = copied();
    rest.remove(d);
    return rest;
  }

 private:
  bool outer(int operand, int d, int e) const {
    if (stride[operand][d] != stride[operand][e]) return stride[operand][d] > stride[operand][e];
    for (int o = 0; o < Operands; ++o)
      if (stride[o][d] != stride[o][e]) return stride[o][d] > stride[o][e];
    return false;
  }

  void exchange(int d, int e) {
    swap_values(extent[d], extent[e]);
    for (int o = 0; o < Operands; ++o) swap_values(stride[o][d], stride[o][e]);
  }

  static void swap_values(std::int64_t& x, std::int64_t& y) {
    std::int64_t const t = x;
    x = y;
    y = t;
  }
};

#undef OSTRAKA_DETAIL_ONE_FUNCTION

/// Returns the loops over the dimensions of blocks with the same extents. Offsets: in the order of the blocks.
template <class... Others>
[[nodiscard]] loop_nest<1 + static_cast<int>(sizeof...(Others))> loops_along(strided const& first,
                                                                             Others const&... others) {
  loop_nest<1 + static_cast<int>(sizeof...(Others))> loops;
  for (int d = 0; d < first.rank; ++d) loops.add(first.extent[d], first.stride[d], others.stride[d]...);
  return loops;
}

/// Returns the loops over two blocks of the same extents, in the order of the first block's memory, with contiguous
/// loops merged. Offsets: {first, second}.
inline loop_nest<2> loops_over(strided const& first, strided const& second) {
  loop_nest<2> loops = loops_along(first, second);
  loops.order_by(0);
  loops.merge();
  return loops;
}

/// Returns the loop with this operand's smallest nonzero stride; -1 if there is none.
template <int Operands>
[[nodiscard]] int smallest_step(loop_nest<Operands> const& loops, int operand) {
  int found = -1;
  for (int d = 0; d < loops.rank; ++d)
    if (loops.stride[operand][d] != 0 && (found < 0 || loops.stride[operand][d] < loops.stride[operand][found]))
      found = d;
  return found;
}

/// Visits iterations `begin`, `begin + 1`, … of a loop nest without a division for each of them.
template <int Operands>
struct loop_walker {
  loop_nest<Operands> const& loops;
  std::int64_t index[max_loops];
  std::int64_t offset[Operands];

  KOKKOS_INLINE_FUNCTION loop_walker(loop_nest<Operands> const& nest, std::int64_t begin) : loops(nest) {
    for (int o = 0; o < Operands; ++o) offset[o] = 0;
    for (int d = loops.rank - 1; d >= 0; --d) {
      index[d] = 0;
      if (begin == 0) continue;  // the most frequent case, and a division is expensive
      index[d] = begin % loops.extent[d];
      begin /= loops.extent[d];
      for (int o = 0; o < Operands; ++o) offset[o] += index[d] * loops.stride[o][d];
    }
  }

  KOKKOS_INLINE_FUNCTION void next() {
    for (int d = loops.rank - 1; d >= 0; --d) {
      for (int o = 0; o < Operands; ++o) offset[o] += loops.stride[o][d];
      if (++index[d] < loops.extent[d]) return;
      for (int o = 0; o < Operands; ++o) offset[o] -= index[d] * loops.stride[o][d];
      index[d] = 0;
    }
  }

  /// Advances by `count` iterations, which end at or before the end of the innermost loop.
  KOKKOS_INLINE_FUNCTION void skip(std::int64_t count) {
    int const inner = loops.rank - 1;
    if (inner < 0) return;
    index[inner] += count - 1;
    for (int o = 0; o < Operands; ++o) offset[o] += (count - 1) * loops.stride[o][inner];
    next();
  }
};

}  // namespace ostraka::engine
