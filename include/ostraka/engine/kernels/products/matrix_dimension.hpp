// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. One dimension of the matrices of a product: which loops are joined into it, which stay around it, and into
/// what panels it is cut. In A[I, J, K] B[K, J, L] -> C[I, L] the dimension k joins J and K if A is read where it lies
/// and B is gathered.

#include <algorithm>
#include <cstdint>
#include <limits>

#include <ostraka/engine/kernels/loop_nest.hpp>

namespace ostraka::engine {

/// Loops of two operands, some of them as one index.
struct matrix_dimension {
  loop_nest<2> inner;  // the index, outermost loop first
  loop_nest<2> outer;  // the others
  std::int64_t extent = 1;
  std::int64_t panel = 1;  // how much of it a product takes

  std::int64_t panels() const { return (extent + panel - 1) / panel; }

  /// The length of a line of a panel in scratch memory: whole cache lines, and no multiple of a page, whose lines would
  /// meet in the same place of the cache.
  std::int64_t padded_panel() const {
    std::int64_t const whole = (panel + 7) / 8 * 8;
    return whole % 128 == 0 ? whole + 8 : whole;
  }

  /// The step of the index in an operand that walks it as one.
  std::int64_t step(int operand) const { return inner.rank == 0 ? 0 : inner.stride[operand][inner.rank - 1]; }

  /// The smallest step that an operand takes in it.
  std::int64_t smallest_stride(int operand) const {
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    for (int d = 0; d < inner.rank; ++d) smallest = std::min(smallest, inner.stride[operand][d]);
    return smallest;
  }

  /// The smallest step that an operand takes in the loops around it.
  std::int64_t smallest_outside(int operand) const {
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    for (int d = 0; d < outer.rank; ++d) smallest = std::min(smallest, outer.stride[operand][d]);
    return smallest;
  }

  /// How many turns a panel takes of the loop along which an operand has its smallest step.
  std::int64_t covered(int operand) const {
    std::int64_t turns = 1, smallest = smallest_stride(operand), below = 1;
    for (int d = inner.rank - 1; d >= 0; below *= inner.extent[d--])
      if (inner.stride[operand][d] == smallest)
        turns = std::max<std::int64_t>(1, std::min(inner.extent[d], panel / below));
    return turns;
  }

  /// How many of its elements lie side by side in an operand.
  std::int64_t run(int operand) const {
    std::int64_t length = 1;
    for (int d = inner.rank - 1; d >= 0 && inner.stride[operand][d] == length; --d) length *= inner.extent[d];
    return length;
  }

  /// Cuts it into equal panels of at most `most`.
  void cut(std::int64_t most) {
    std::int64_t const pieces = (extent + most - 1) / most;
    panel = (extent + pieces - 1) / pieces;
    if (pieces > 1 && panel > 64) panel = std::min((panel + 15) / 16 * 16, most);
  }
};

namespace detail {

/// The ways to make one index of loops of a nest: runs of loops that every operand used where it lies walks without a
/// jump.
struct loop_groups {
  loop_nest<2> loops;
  int begin[max_loops + 1] = {};
  int count = 1;

  /// @param lies whether the operand is used where it lies; if not, it is gathered, and any loops will do
  loop_groups(loop_nest<2> const& nest, bool first_lies, bool second_lies) : loops(nest) {
    if (first_lies != second_lies) loops.order_by(first_lies ? 0 : 1);
    if (!first_lies && !second_lies) bring_in();
    for (int d = 1; d < loops.rank; ++d) {
      bool const first_joins = !first_lies || loops.stride[0][d - 1] == loops.extent[d] * loops.stride[0][d];
      bool const second_joins = !second_lies || loops.stride[1][d - 1] == loops.extent[d] * loops.stride[1][d];
      if (!first_joins || !second_joins) begin[count++] = d;
    }
    begin[count] = loops.rank;
  }

  /// Where both operands are gathered: the first one's smallest steps next to the second one's, so that panels have
  /// both whole.
  void bring_in() {
    int smallest = 0;
    for (int d = 1; d < loops.rank; ++d)
      if (loops.stride[0][d] < loops.stride[0][smallest]) smallest = d;
    if (smallest + 2 < loops.rank) loops = loops.with_last(smallest).with_last(loops.rank - 2);
  }

  matrix_dimension dimension(int group) const {
    matrix_dimension result;
    for (int d = 0; d < loops.rank; ++d) {
      bool const inside = begin[group] <= d && d < begin[group + 1];
      (inside ? result.inner : result.outer).add(loops.extent[d], loops.stride[0][d], loops.stride[1][d]);
    }
    result.extent = result.inner.size();
    return result;
  }
};

}  // namespace detail

}  // namespace ostraka::engine
