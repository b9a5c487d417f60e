// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The keys that a team of the single kernel of attention multiplies, for all small extents, positions and windows,
/// against every pair of a query and a key: no block without a visible pair, and as many keys as prices count.
// ranks: 1

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <ostraka/engine/sequences/tiles/keys_of_team.hpp>

namespace engine = ostraka::engine;
namespace planner = ostraka::planner;

namespace {

// The rules of a call, in plain words.
struct option {
  bool is_causal = false, has_window = false;
  std::int64_t window = 0, first = 0;

  [[nodiscard]] planner::seen_positions seen() const {
    return {is_causal, has_window ? window : planner::seen_positions::any, first};
  }
  [[nodiscard]] bool sees(std::int64_t query, std::int64_t key) const {
    if (is_causal && key > query) return false;
    return !has_window || key < first || std::abs(query - key) < window;
  }
  [[nodiscard]] bool some_see(planner::range queries, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t q = queries.begin; q < queries.end; ++q)
      for (std::int64_t k = begin; k < end; ++k)
        if (sees(q, k)) return true;
    return false;
  }
  [[nodiscard]] bool all_see(planner::range queries, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t q = queries.begin; q < queries.end; ++q)
      for (std::int64_t k = begin; k < end; ++k)
        if (!sees(q, k)) return false;
    return true;
  }
};

constexpr std::int64_t block = 3;

void check(option const& o, planner::range queries, std::int64_t keys) {
  engine::detail::keys_of_team const team(o.seen(), keys, block);
  std::vector<int> wanted(static_cast<std::size_t>(keys), 0), got = wanted;
  for (std::int64_t k = 0; k < keys; ++k) {
    std::int64_t const begin = k / block * block;
    bool const is_met = o.some_see(queries, begin, std::min(begin + block, keys));
    wanted[static_cast<std::size_t>(k)] = is_met && (o.has_window || !o.is_causal || k < queries.end) ? 1 : 0;
    for (std::int64_t q = queries.begin; q < queries.end; ++q) CHECK(team.sees(q, k) == o.sees(q, k));
  }
  engine::detail::run_of_keys parts[2];
  team.find(queries.begin, queries.end, parts);
  for (engine::detail::run_of_keys const& part : parts)
    for (std::int64_t begin = part.begin; begin < part.end; begin += block) {
      std::int64_t const end = std::min(begin + block, part.end);
      for (std::int64_t k = begin; k < end; ++k) ++got[static_cast<std::size_t>(k)];
      CHECK(begin % block == 0);
      CHECK(team.all_see(queries.begin, queries.end, {begin, end}) == o.all_see(queries, begin, end));
    }
  CHECK(got == wanted);
  CHECK(planner::keys_in_tile(o.seen(), queries, keys, {queries.size(), block}).size() ==
        std::count(wanted.begin(), wanted.end(), 1));
}

}  // namespace

TEST_CASE("all small extents, and queries at any position") {
  for (bool const is_causal : {false, true})
    for (std::int64_t const window : {-1, 0, 1, 2, 3, 6, 20})
      for (std::int64_t const first : {0, 1, 5}) {
        if (window < 0 && first > 0) continue;
        option const o{is_causal, window >= 0, window, first};
        CAPTURE(is_causal);
        CAPTURE(window);
        CAPTURE(first);
        for (std::int64_t const from : {-3, -1, 0, 1, 2, 5, 9})
          for (std::int64_t const queries : {0, 1, 2, 3, 7})
            for (std::int64_t const keys : {0, 1, 2, 3, 4, 5, 11}) {
              CAPTURE(from);
              CAPTURE(queries);
              CAPTURE(keys);
              check(o, {from, from + queries}, keys);
            }
      }
}
