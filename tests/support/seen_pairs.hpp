// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Which queries of an attention see which keys, pair by pair, for the plan's functions and the engine's that skip
/// whole blocks of keys.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <ostraka/plan/attention/seen_positions.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::testing {

/// The rules of a call, pair by pair.
struct seen_pairs {
  bool is_causal = false, has_window = false;
  std::int64_t window = 0, first = 0;

  [[nodiscard]] planner::seen_positions seen() const {
    return {is_causal, has_window ? window : planner::seen_positions::any, first};
  }
  [[nodiscard]] bool sees(std::int64_t query, std::int64_t key) const {
    if (is_causal && key > query) return false;
    return !has_window || key < first || std::abs(query - key) < window;
  }
};

/// True for each key that these queries are multiplied with: all keys of a block in which some query sees a key, but
/// under a causal mask without a window none behind the last query.
inline std::vector<bool> multiplied_keys(seen_pairs const& o, planner::range queries, std::int64_t keys,
                                         std::int64_t block) {
  std::vector<bool> all(static_cast<std::size_t>(keys), false);
  for (std::int64_t k = 0; k < keys; ++k) {
    bool is_met = false;
    for (std::int64_t j = k / block * block; j < std::min(k / block * block + block, keys); ++j)
      for (std::int64_t q = queries.begin; q < queries.end; ++q) is_met = is_met || o.sees(q, j);
    all[static_cast<std::size_t>(k)] = is_met && (o.has_window || !o.is_causal || k < queries.end);
  }
  return all;
}

template <class F>
void for_each_seen_pairs(F const& f) {
  for (bool const is_causal : {false, true}) {
    f(seen_pairs{is_causal});
    for (std::int64_t const window : {0, 1, 2, 3, 6, 20})
      for (std::int64_t const first : {0, 1, 5}) f(seen_pairs{is_causal, true, window, first});
  }
}

/// Calls f(rules, queries, keys) for all rules, all small extents, and queries at any position.
template <class F>
void for_each_small_attention(F const& f) {
  for_each_seen_pairs([&](seen_pairs const& o) {
    CAPTURE(o.is_causal);
    CAPTURE(o.window);
    CAPTURE(o.first);
    for (std::int64_t const from : {-3, -1, 0, 1, 2, 5, 9})
      for (std::int64_t const queries : {0, 1, 2, 3, 7})
        for (std::int64_t const keys : {0, 1, 2, 3, 4, 5, 11}) {
          CAPTURE(from);
          CAPTURE(queries);
          CAPTURE(keys);
          f(o, planner::range{from, from + queries}, keys);
        }
  });
}

}  // namespace ostraka::testing
