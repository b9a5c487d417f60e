// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. planner::seen_positions and planner::keys_in_tile, for kernels: the keys with which a tile of queries is
/// multiplied, and the keys that a query sees.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <ostraka/plan/attention/attention_tiles.hpp>

namespace ostraka::engine::detail {

/// A half-open range of keys.
struct run_of_keys {
  std::int64_t begin = 0, end = 0;
};

struct keys_of_team {
  std::int64_t before, after, first, prefix_after;
  std::int64_t keys, block;  ///< number of all keys, and of the keys of a tile
  bool has_window, sees_nothing;

  keys_of_team(planner::seen_positions const& seen, std::int64_t all, std::int64_t of_tile)
      : before(seen.before()),
        after(seen.after()),
        first(seen.first),
        prefix_after(seen.prefix_after()),
        keys(all),
        block(of_tile),
        has_window(seen.has_window()),
        sees_nothing(seen.window <= 0) {}

  /// Finds the keys with which queries at positions [begin, end) are multiplied: a prefix, and a range after it.
  KOKKOS_INLINE_FUNCTION void find(std::int64_t begin, std::int64_t end, run_of_keys (&parts)[2]) const {
    parts[0] = begin < end ? whole_blocks(0, prefix_of(end)) : run_of_keys{};
    parts[1] = begin < end && !sees_nothing ? whole_blocks(begin - before, end + after) : run_of_keys{};
    bool const meet = parts[0].end > 0 && parts[1].end > parts[1].begin && parts[1].begin <= parts[0].end;
    if (!meet) return;
    if (parts[1].end < parts[0].end) parts[1].end = parts[0].end;
    parts[1].begin = 0;
    parts[0] = {};
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool sees(std::int64_t query, std::int64_t key) const {
    return (!sees_nothing && key >= query - before && key <= query + after) || key < prefix_of(query + 1);
  }

  /// True if all queries at positions [begin, end) see these keys.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool all_see(std::int64_t begin, std::int64_t end, run_of_keys k) const {
    std::int64_t const prefix = prefix_of(begin + 1), from = k.begin < prefix ? prefix : k.begin;
    return from >= k.end || (!sees_nothing && from >= end - 1 - before && k.end <= begin + after + 1);
  }

 private:
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t prefix_of(std::int64_t end) const {
    std::int64_t const n = end + prefix_after;
    return n < 0 ? 0 : n < first ? n : first;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION run_of_keys whole_blocks(std::int64_t begin, std::int64_t end) const {
    if (begin < 0) begin = 0;
    if (end > keys) end = keys;
    if (begin >= end) return {};
    if (has_window) end = (end + block - 1) / block * block;
    return {begin / block * block, end < keys ? end : keys};
  }
};

}  // namespace ostraka::engine::detail
