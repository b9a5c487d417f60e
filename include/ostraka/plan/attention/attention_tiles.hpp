// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The tiles of attention: some queries, and the keys with which they are multiplied. The kernels follow these
/// tiles, and every price counts their pairs:
///
///     all see all         all keys
///     causal              the keys up to the last query of the tile
///     window, first keys  the blocks of keys in which some query of the tile sees one
///
/// A pair within these keys that the rule hides is multiplied, and its product is dropped. Tiles of one query and one
/// key contain no hidden pairs: they are the pairs of a kernel that goes from key to key.

#include <cstdint>

#include <ostraka/plan/attention/seen_positions.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::planner {

/// The queries of a tile, and the keys of a block. The defaults are those of the kernels on hosts: multiples of the
/// sides of all register tiles. The scores of a tile, and their cotangents, stay in a core's second cache.
struct tile_extents {
  std::int64_t queries = 120, keys = 240;
};

/// The keys of one product of a tile: their indices, and whether some queries of the tile do not see some of them.
struct keys_of_tile {
  range where{};
  bool is_masked = false;
};

/// The keys that a tile is multiplied with: a prefix, and a later range.
struct keys_of_queries {
  range prefix{}, others{};

  [[nodiscard]] constexpr std::int64_t size() const { return prefix.size() + others.size(); }
};

/// The keys, of this many, that queries at these positions are multiplied with. Both ranges begin a block of keys. They
/// end at the end of a block, at the last key, or, without a window, where no query of the tile sees more.
[[nodiscard]] constexpr keys_of_queries keys_in_tile(seen_positions const& seen, range queries, std::int64_t keys,
                                                     tile_extents const& tile = {}) {
  auto const whole_blocks = [&](range r) {
    r = intersect(r, range{0, keys});
    if (r.size() <= 0) return range{0, 0};
    std::int64_t const end = seen.has_window() ? (r.end + tile.keys - 1) / tile.keys * tile.keys : r.end;
    return range{r.begin / tile.keys * tile.keys, end < keys ? end : keys};
  };
  keys_of_queries of{whole_blocks(seen.prefix_of(queries)), whole_blocks(seen.window_of(queries))};
  if (of.prefix.size() > 0 && of.others.size() > 0 && of.others.begin <= of.prefix.end)
    of = {{0, 0}, {0, of.others.end < of.prefix.end ? of.prefix.end : of.others.end}};
  return of;
}

/// Calls f(keys_of_tile) for the products of a tile, a block of keys at a time. The keys of a product begin and end
/// where they do for all tiles, or where no query of the tile sees more, so a row's sums have the same order in every
/// tile.
template <class F>
constexpr void for_each_keys_of_tile(seen_positions const& seen, range queries, std::int64_t keys, F const& f,
                                     tile_extents const& tile = {}) {
  keys_of_queries const of = keys_in_tile(seen, queries, keys, tile);
  for (range const& part : {of.prefix, of.others})
    for (std::int64_t begin = part.begin; begin < part.end; begin += tile.keys) {
      range const block = intersect(range{begin, begin + tile.keys}, range{0, keys});
      f(keys_of_tile{intersect(block, part), seen.of(queries, block) == chunk_seen::some});
    }
}

/// The number of pairs of a query and a key that tiles of queries at these positions multiply.
[[nodiscard]] constexpr std::int64_t pairs_in_tiles(seen_positions const& seen, range queries, std::int64_t keys,
                                                    tile_extents const& tile = {}) {
  if (seen.of(queries, {0, keys}) == chunk_seen::all) return queries.size() * keys;
  std::int64_t pairs = 0;
  for (std::int64_t begin = queries.begin; begin < queries.end; begin += tile.queries) {
    range const some = intersect(range{begin, begin + tile.queries}, queries);
    pairs += some.size() * keys_in_tile(seen, some, keys, tile).size();
  }
  return pairs;
}

/// The share of all pairs of a sequence of this length that tiles multiply.
[[nodiscard]] constexpr double share_in_tiles(seen_positions const& seen, std::int64_t length) {
  double const all = static_cast<double>(length) * static_cast<double>(length);
  return length > 0 ? static_cast<double>(pairs_in_tiles(seen, {0, length}, length)) / all : 1;
}

/// The queries of a request whose keys are in pages, as prices describe them. A price does not know the request's
/// length, but only how many positions its table has room for. It assumes that the last query is at the last position
/// and sees the most keys, and that divided pages are divided evenly.
struct paged_queries {
  seen_positions seen{};
  std::int64_t queries = 0;  ///< queries of the request
  std::int64_t room = 0;     ///< positions for which its table has room
  std::int64_t ways = 1;     ///< the number of devices that share the pages

  /// The number of pairs of these queries and keys that a device multiplies.
  [[nodiscard]] constexpr std::int64_t pairs(range some) const {
    return (pairs_in_tiles(seen, at(some), room, {1, 1}) + ways - 1) / ways;
  }
  /// The number of keys that a device reads for them.
  [[nodiscard]] constexpr std::int64_t keys(range some) const {
    return (keys_in_tile(seen, at(some), room, {1, 1}).size() + ways - 1) / ways;
  }

 private:
  [[nodiscard]] constexpr range at(range some) const {
    return {room - queries + some.begin, room - queries + some.end};
  }
};

/// The most that f(range) returns for one of the blocks into which `extent` indices are divided.
template <class F>
[[nodiscard]] constexpr std::int64_t most_of_blocks(std::int64_t extent, std::int64_t ways, F const& f) {
  std::int64_t most = 0;
  for (std::int64_t d = 0; d < ways; ++d)
    if (std::int64_t const n = f(block(extent, d, ways)); n > most) most = n;
  return most;
}

}  // namespace ostraka::planner
