// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The tiles of the single kernel of attention: they fit into scratch memory, no larger one does, and the keys that one
/// of them is multiplied with are counted as by plain loops. Which calls the kernel computes.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <ostraka/plan/attention/attention_kernel.hpp>

using namespace ostraka::planner;

namespace {

constexpr std::int64_t floats = 4, doubles = 8;

// The tiles of the kernel's page, element by element: rows have an odd number of elements.
std::int64_t bytes_of(attention_kernel const& k, tile_extents const& t) {
  auto const tile = [](std::int64_t rows, std::int64_t columns) {
    return rows * (columns % 2 == 0 ? columns + 1 : columns);
  };
  return k.bytes * (tile(t.queries, k.width) + tile(t.keys, std::max(k.width, k.values)) + tile(t.queries, t.keys) +
                    tile(t.queries, k.values) + 3 * t.queries);
}

}  // namespace

TEST_CASE("the largest tile that fits") {
  tile_extents const tiles[] = {{32, 32}, {16, 32}, {16, 16}, {8, 16}};
  for (std::int64_t const bytes : {floats, doubles})
    for (std::int64_t width = 0; width < 600; ++width)
      for (std::int64_t const values : {std::int64_t{0}, std::int64_t{1}, std::int64_t{64}, width}) {
        attention_kernel const k{width, values, bytes};
        tile_extents wanted{0, 0};
        for (tile_extents const& t : tiles)
          if (wanted.queries == 0 && bytes_of(k, t) <= 40960) wanted = t;
        CHECK(k.tile().queries == wanted.queries);
        CHECK(k.tile().keys == wanted.keys);
        if (wanted.queries > 0) CHECK(k.elements(wanted) * bytes == bytes_of(k, wanted));
      }
  constexpr auto queries = [](attention_kernel const& k) { return k.tile().queries; };
  static_assert(queries({64, 64, floats}) == 32 && queries({128, 128, floats}) == 16 &&
                queries({256, 256, floats}) == 8);
  static_assert(queries({64, 64, doubles}) == 16 && queries({128, 128, doubles}) == 8);
  static_assert(queries({315, 315, floats}) == 8 && queries({316, 316, floats}) == 0);
  static_assert(queries({155, 155, doubles}) == 8 && queries({156, 156, doubles}) == 0);
}

TEST_CASE("short calls: sixteen blocks of keys of a team, and 2^30 flops of a device") {
  constexpr attention_kernel of_128{128, 128, floats}, wide{256, 256, floats}, none{512, 512, floats};
  static_assert(of_128.is_short(512) && !of_128.is_short(513));
  static_assert(wide.is_short(256) && !wide.is_short(257));
  static_assert(none.is_short(0) && !none.is_short(1));
  static_assert(attention_kernel::is_small(1 << 30) && !attention_kernel::is_small((std::int64_t{1} << 30) + 1));
}

TEST_CASE("the most keys of a tile") {
  tile_extents const tile{4, 8};
  for (bool const causal : {false, true})
    for (std::int64_t const window : {std::int64_t{0}, std::int64_t{1}, std::int64_t{9}, seen_positions::any})
      for (std::int64_t const from : {0, 3, 40})
        for (std::int64_t const queries : {0, 1, 4, 5, 23})
          for (std::int64_t const keys : {0, 1, 8, 9, 50}) {
            std::int64_t most = 0;
            for (std::int64_t begin = from; begin < from + queries; begin += 4) {
              std::int64_t const end = std::min(begin + 4, from + queries);
              std::int64_t met = 0;
              for (std::int64_t block = 0; block < keys; block += 8) {
                std::int64_t until = std::min(block + 8, keys);
                bool is_seen = false;
                for (std::int64_t q = begin; q < end; ++q)
                  for (std::int64_t k = block; k < until; ++k)
                    is_seen = is_seen || ((!causal || k <= q) && std::abs(q - k) < window);
                if (causal && window == seen_positions::any) until = std::min(until, end);
                met += is_seen ? until - block : 0;
              }
              most = std::max(most, met);
            }
            CAPTURE(causal);
            CAPTURE(window);
            CAPTURE(from);
            CAPTURE(queries);
            CAPTURE(keys);
            CHECK(most_keys_in_tiles({causal, window, 0}, {from, from + queries}, keys, tile) == most);
          }
}
