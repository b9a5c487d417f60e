// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The keys that a query of attention sees, by positions alone:
///
///     causal               key ≤ query
///     window w             |query − key| < w: with causal w keys, the query's own included, else 2w − 1
///     window w, first f    key < f, too, however far away it is

#include <cstdint>

#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::planner {

/// The part of some keys that some queries see.
enum class chunk_seen : std::uint8_t { none, some, all };

/// The rule by which a query sees keys. Each query sees a range of positions, and perhaps the first positions of the
/// sequence.
struct seen_positions {
  static constexpr std::int64_t any = std::int64_t{1} << 60;  ///< beyond all distances

  bool causal = false;
  std::int64_t window = any;
  std::int64_t first = 0;

  [[nodiscard]] constexpr bool has_window() const { return window < any; }
  /// The distances to the first and the last key of the range.
  [[nodiscard]] constexpr std::int64_t before() const { return window - 1; }
  [[nodiscard]] constexpr std::int64_t after() const { return causal && window > 0 ? 0 : window - 1; }
  /// The distance to the last key of the prefix.
  [[nodiscard]] constexpr std::int64_t prefix_after() const { return causal ? 0 : any; }

  /// The range of keys that some of these queries see, perhaps beyond all keys.
  [[nodiscard]] constexpr range window_of(range queries) const {
    range const r{queries.begin - before(), queries.end + after()};
    return window <= 0 || queries.size() <= 0 ? range{0, 0} : r;
  }
  /// The prefix of keys that some of these queries see.
  [[nodiscard]] constexpr range prefix_of(range queries) const {
    std::int64_t const end = queries.end + prefix_after();
    return {0, queries.size() <= 0 || end < 0 ? 0 : end < first ? end : first};
  }

  [[nodiscard]] constexpr bool sees(std::int64_t query, std::int64_t key) const {
    range const one{query, query + 1};
    return is_in(window_of(one), key) || is_in(prefix_of(one), key);
  }

  /// Returns whether the queries see all, some or none of the keys.
  [[nodiscard]] constexpr chunk_seen of(range queries, range keys) const {
    if (queries.size() <= 0 || keys.size() <= 0) return chunk_seen::none;
    if (!meet(window_of(queries), keys) && !meet(prefix_of(queries), keys)) return chunk_seen::none;
    // All queries see the keys that both the first and the last one see.
    range const last = window_of({queries.end - 1, queries.end}),
                prefix = prefix_of({queries.begin, queries.begin + 1});
    range const seen{last.begin, window_of({queries.begin, queries.begin + 1}).end};
    std::int64_t const from = keys.begin < prefix.end ? prefix.end : keys.begin;
    bool const all = from >= keys.end || (from >= seen.begin && keys.end <= seen.end);
    return all ? chunk_seen::all : chunk_seen::some;
  }

 private:
  static constexpr bool is_in(range r, std::int64_t i) { return r.begin <= i && i < r.end; }
  static constexpr bool meet(range a, range b) { return a.begin < b.end && b.begin < a.end && a.begin < a.end; }
};

}  // namespace ostraka::planner
