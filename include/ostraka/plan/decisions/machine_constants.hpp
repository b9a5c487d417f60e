// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Measured numbers about machines for lowering, in one value. If two algorithms lead to the same result, they
/// tell which one is faster. No result depends on them.

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/spec/ring.hpp>

namespace ostraka::planner {

struct machine_constants {
  /// The least number of elements of a part for a move to be fused with a contraction. With shorter parts a product in
  /// several pieces costs as much as the copy.
  std::int64_t shortest_fused_part = 2048;
  /// The least number of indices of a part, along the label that is cut, for a contraction to read or write a message
  /// in place. One product of long rows is faster than many of short ones.
  std::int64_t shortest_part = 16;
  /// The same for a label that is summed.
  std::int64_t shortest_summed_part = 8;
  /// The limit for the number of elements that a product in parts reads again for each part, because they lack the cut
  /// label; in sizes of the message.
  std::int64_t reread_limit = 4;
  /// The same for a gather that would be received in order, in sizes of a part.
  std::int64_t reread_limit_in_order = 2;
  /// The number of elements of a reduction that are in flight to a device at once, in all pieces. They should stay in a
  /// cache.
  std::int64_t arriving_pieces = 32768;
  /// The least number of elements of such a piece, so that it is sent efficiently.
  std::int64_t shortest_piece = 2048;
  /// The least numbers of elements of a part, and of a piece of it, that circulate in a ring.
  std::int64_t shortest_ring_part = planner::shortest_ring_part;
  std::int64_t shortest_ring_piece = planner::shortest_ring_piece;
  /// The least number of indices of such a piece, along the label that is cut: a product of fewer is slower.
  std::int64_t shortest_ring_indices = 128;

  /// The number of elements of a piece in which parts of a reduction arrive from `peers` other devices.
  [[nodiscard]] constexpr std::int64_t piece_of_reduction(std::int64_t peers) const {
    return std::max(shortest_piece, arriving_pieces / peers);
  }
};

/// The constants as measured (docs/benchmarks/patterns.md).
inline constexpr machine_constants measured{};

}  // namespace ostraka::planner
