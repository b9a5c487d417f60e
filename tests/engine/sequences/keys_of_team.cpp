// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The keys that a team of the single kernel of attention multiplies, for all small extents, positions and windows,
/// against every pair of a query and a key: no block without a visible pair, and as many keys as prices count.
// ranks: 1
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/engine/sequences/tiles/keys_of_team.hpp>

#include "support/seen_pairs.hpp"

namespace engine = ostraka::engine;
namespace planner = ostraka::planner;
namespace t = ostraka::testing;

namespace {

bool all_see(t::seen_pairs const& o, planner::range queries, std::int64_t begin, std::int64_t end) {
  for (std::int64_t q = queries.begin; q < queries.end; ++q)
    for (std::int64_t k = begin; k < end; ++k)
      if (!o.sees(q, k)) return false;
  return true;
}

constexpr std::int64_t block = 3;

void check(t::seen_pairs const& o, planner::range queries, std::int64_t keys) {
  engine::detail::keys_of_team const team(o.seen(), keys, block);
  std::vector<bool> const multiplied = t::multiplied_keys(o, queries, keys, block);
  std::vector<int> const wanted(multiplied.begin(), multiplied.end());
  std::vector<int> got(wanted.size(), 0);
  for (std::int64_t k = 0; k < keys; ++k)
    for (std::int64_t q = queries.begin; q < queries.end; ++q) CHECK(team.sees(q, k) == o.sees(q, k));
  engine::detail::run_of_keys parts[2];
  team.find(queries.begin, queries.end, parts);
  for (engine::detail::run_of_keys const& part : parts)
    for (std::int64_t begin = part.begin; begin < part.end; begin += block) {
      std::int64_t const end = std::min(begin + block, part.end);
      for (std::int64_t k = begin; k < end; ++k) ++got[static_cast<std::size_t>(k)];
      CHECK(begin % block == 0);
      CHECK(team.all_see(queries.begin, queries.end, {begin, end}) == all_see(o, queries, begin, end));
    }
  CHECK(got == wanted);
  CHECK(planner::keys_in_tile(o.seen(), queries, keys, {queries.size(), block}).size() ==
        std::count(wanted.begin(), wanted.end(), 1));
}

}  // namespace

TEST_CASE("all small extents, and queries at any position") { t::for_each_small_attention(check); }
