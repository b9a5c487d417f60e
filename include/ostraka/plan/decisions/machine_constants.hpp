// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. What lowering knows of machines: numbers that have been measured, in one value. Where two ways lead to the
/// same result, they say which one is faster; no result depends on them.

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/spec/ring.hpp>

namespace ostraka::planner {

struct machine_constants {
  /// Elements of a part at least for a move to be fused with a contraction: for shorter ones a product in several
  /// pieces costs as much as the copy.
  std::int64_t shortest_fused_part = 2048;
  /// Indices of a part at least, along the label that is cut, for a contraction to walk a message as it lies: one
  /// product of long rows is faster than many of short ones.
  std::int64_t shortest_part = 16;
  /// The same of a label that is summed.
  std::int64_t shortest_summed_part = 8;
  /// A product in parts walks what lacks the cut label once more for each part: times the size of the message at most.
  std::int64_t walked_again = 4;
  /// The same of a gather that would be received in order: times the size of a part at most.
  std::int64_t walked_again_in_order = 2;
  /// Elements of all pieces of a reduction that are under way to a device together, which are to stay in a cache.
  std::int64_t arriving_pieces = 32768;
  /// Elements of such a piece at least, so that it travels well.
  std::int64_t shortest_piece = 2048;
  /// Elements of a part, and of a piece of it, that go round a ring at least.
  std::int64_t shortest_ring_part = planner::shortest_ring_part;
  std::int64_t shortest_ring_piece = planner::shortest_ring_piece;
  /// Indices of such a piece at least, along the label that is cut: a product of fewer is slower.
  std::int64_t shortest_ring_indices = 128;

  /// Elements of a piece in which parts of a reduction arrive from so many others.
  [[nodiscard]] constexpr std::int64_t piece_of_reduction(std::int64_t peers) const {
    return std::max(shortest_piece, arriving_pieces / peers);
  }
};

/// As measured (docs/benchmarks/patterns.md).
inline constexpr machine_constants measured{};

}  // namespace ostraka::planner
