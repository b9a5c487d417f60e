// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The tiles of attention against every pair of a query and a key, for all small extents, positions and windows:
/// products cover the visible pairs, once, and the numbers that prices read are those of the products.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/plan/attention/attention_tiles.hpp>

#include "support/seen_pairs.hpp"

using namespace ostraka::planner;
using namespace ostraka::testing;

namespace {

void check(seen_pairs const& o, range queries, std::int64_t keys, tile_extents const& tile) {
  std::int64_t pairs = 0;
  for (std::int64_t begin = queries.begin; begin < queries.end; begin += tile.queries) {
    range const some{begin, std::min(begin + tile.queries, queries.end)};
    std::vector<bool> const wanted = multiplied_keys(o, some, keys, tile.keys);
    std::vector<bool> got(wanted.size(), false);
    std::int64_t last = -1;
    for_each_keys_of_tile(
        o.seen(), some, keys,
        [&](keys_of_tile const& k) {
          CHECK(k.where.begin % tile.keys == 0);
          CHECK(k.where.size() > 0);
          CHECK(k.where.size() <= tile.keys);
          CHECK(k.where.begin > last);
          for (std::int64_t j = k.where.begin; j < k.where.end; ++j) {
            got[static_cast<std::size_t>(j)] = true;
            for (std::int64_t q = some.begin; q < some.end && !k.is_masked; ++q) CHECK(o.sees(q, j));
          }
          last = k.where.end - 1;
        },
        tile);
    CHECK(got == wanted);
    for (std::int64_t q = some.begin; q < some.end; ++q)
      for (std::int64_t j = 0; j < keys; ++j)
        if (o.sees(q, j)) CHECK(got[static_cast<std::size_t>(j)]);
    std::int64_t const met = std::count(wanted.begin(), wanted.end(), true);
    CHECK(keys_in_tile(o.seen(), some, keys, tile).size() == met);
    pairs += some.size() * met;
  }
  CHECK(pairs_in_tiles(o.seen(), queries, keys, tile) == pairs);
}

}  // namespace

TEST_CASE("all small extents, and queries at any position") {
  for_each_small_attention([](seen_pairs const& o, range queries, std::int64_t keys) {
    for (tile_extents const& tile : {tile_extents{1, 1}, tile_extents{2, 3}, tile_extents{3, 2}})
      check(o, queries, keys, tile);
  });
}

TEST_CASE("the tiles of the kernels") {
  for (std::int64_t const from : {0, 1, 130})
    for (std::int64_t const queries : {1, 119, 120, 121, 250})
      for (std::int64_t const keys : {1, 239, 240, 241, 500}) {
        CAPTURE(from);
        CAPTURE(queries);
        CAPTURE(keys);
        check({true}, {from, from + queries}, keys, {120, 240});
        CHECK(pairs_in_tiles({true}, {from, from + queries}, keys) ==
              pairs_in_tiles({true}, {from, from + queries}, keys, {120, 240}));
        check({true, true, 100, 0}, {from, from + queries}, keys, {120, 240});
      }
}

TEST_CASE("a causal mask leaves half of a long sequence, and a tile's half beyond it") {
  constexpr std::int64_t n = 1200;
  static_assert(pairs_in_tiles({true}, {0, n}, n) == 120 * 120 * (10 * 11 / 2));
  static_assert(share_in_tiles({true}, n) == 0.55);
  static_assert(share_in_tiles({}, std::int64_t{1} << 30) == 1 && share_in_tiles({true}, 0) == 1);
}

TEST_CASE("queries of a request see what fits into its table") {
  for_each_seen_pairs([](seen_pairs const& o) {
    if (!o.is_causal) return;
    for (std::int64_t const room : {0, 1, 4, 9})
      for (std::int64_t const all : {0, 1, 3})
        for (std::int64_t const ways : {1, 2, 3})
          for (std::int64_t begin = 0; begin <= all; ++begin)
            for (std::int64_t end = begin; end <= all; ++end) {
              std::int64_t pairs = 0, keys = 0;
              for (std::int64_t k = 0; k < room; ++k) {
                std::int64_t queries = 0;
                for (std::int64_t i = begin; i < end; ++i) queries += o.sees(room - all + i, k) ? 1 : 0;
                pairs += queries;
                keys += queries > 0 ? 1 : 0;
              }
              paged_queries const paged{o.seen(), all, room, ways};
              CHECK(paged.pairs({begin, end}) == (pairs + ways - 1) / ways);
              CHECK(paged.keys({begin, end}) == (keys + ways - 1) / ways);
            }
  });
}

TEST_CASE("the most of all blocks") {
  auto const squares = [](range r) { return r.end * r.end - r.begin * r.begin; };
  static_assert(most_of_blocks(7, 3, squares) == 7 * 7 - 4 * 4);
  static_assert(most_of_blocks(2, 3, [](range r) { return r.size(); }) == 1);
  static_assert(most_of_blocks(0, 2, squares) == 0);
}
