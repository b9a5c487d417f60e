// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Attention as a single kernel of an accelerator: the tiles that fit into the scratch memory of a team of
/// threads, and the calls that the kernel computes. A library's products compute the other calls. The limits are
/// estimates, not measured on a GPU: see docs/design/gpus.md.
///
///     in scratch memory      Q [queries, width]   K, then V [keys, width]   S [queries, keys]   O [queries, values]

#include <cstdint>

#include <ostraka/plan/attention/attention_tiles.hpp>

namespace ostraka::planner {

/// The widths of a head, and the bytes of an element of the computation.
struct attention_kernel {
  std::int64_t width = 0, values = 0, bytes = 4;

  /// Every GPU grants a team 48 KiB, of which Kokkos takes some.
  static constexpr std::int64_t scratch_bytes = 40 * 1024;
  /// The most flops of a device, and the most blocks of keys that a team processes one after another.
  static constexpr std::int64_t most_flops = std::int64_t{1} << 30, most_blocks = 16;

  /// Elements from a row of a tile to the next one: odd, so that the elements of a column are in different banks of
  /// scratch memory.
  [[nodiscard]] static constexpr std::int64_t pitch(std::int64_t columns) { return columns | 1; }

  /// Elements of scratch memory. Each query needs three more numbers: its maximum, its sum, and their change.
  [[nodiscard]] constexpr std::int64_t elements(tile_extents const& t) const {
    return t.queries * (pitch(width) + pitch(t.keys) + pitch(values) + 3) +
           t.keys * pitch(width < values ? values : width);
  }

  /// The largest tile that fits; without queries if none does.
  [[nodiscard]] constexpr tile_extents tile() const {
    for (tile_extents const& t :
         {tile_extents{32, 32}, tile_extents{16, 32}, tile_extents{16, 16}, tile_extents{8, 16}})
      if (elements(t) * bytes <= scratch_bytes) return t;
    return {0, 0};
  }

  /// True if a team ends soon: no tile of queries is multiplied with more keys than these.
  [[nodiscard]] constexpr bool is_short(std::int64_t keys) const { return keys <= most_blocks * tile().keys; }
  /// True if all teams end soon: the busiest device has no more flops than these.
  [[nodiscard]] static constexpr bool is_small(std::int64_t flops) { return flops <= most_flops; }
};

/// The most keys that a tile of queries at these positions is multiplied with.
[[nodiscard]] constexpr std::int64_t most_keys_in_tiles(seen_positions const& seen, range queries, std::int64_t keys,
                                                        tile_extents const& tile) {
  std::int64_t most = 0;
  for (std::int64_t begin = queries.begin; begin < queries.end; begin += tile.queries) {
    range const some = intersect(range{begin, begin + tile.queries}, queries);
    if (std::int64_t const n = keys_in_tile(seen, some, keys, tile).size(); n > most) most = n;
  }
  return most;
}

}  // namespace ostraka::planner
