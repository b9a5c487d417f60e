// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The table of ring attention (Liu, Zaharia, Abbeel, 2023). The queries of a sequence are divided over n
/// devices in a ring, and so are its keys and values, which rotate. A device's part is two chunks. In order, device i
/// has chunks 2i and 2i + 1. Striped, it has chunks i and 2n − 1 − i, so that under a causal mask all devices have the
/// same work.
///
///     products of chunks, n = 4       device 0    1    2    3
///     in order, causal                3           7    11   15
///     striped, causal                 9           9    9    9
///     all see all                     16          16   16   16
///
/// In one direction a part of the keys circulates as a whole. In both, its first chunk goes up and its second one down.
/// A part goes no further than the last device that sees some of it. A striped part goes down, chunk by chunk: only a
/// few devices see the second chunk, which has late positions, and they come first in this direction.

#include <array>
#include <cstdint>

#include <ostraka/plan/attention/seen_positions.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::planner {

/// Half of a device's part of a sequence.
struct sequence_chunk {
  range where{};           ///< indices of the device's block
  std::int64_t first = 0;  ///< the position of the first index in the sequence
};

/// A product on a device: some of its queries with some keys of the part that it holds.
struct ring_product {
  range queries{};  ///< indices of the device's block
  range keys{};     ///< indices of the block that the keys come from
  bool is_masked = false;
  std::int64_t first_query = 0, first_key = 0;  ///< their positions, if the product is masked
  int chunks = 0;                               ///< the number of pairs of chunks
};

struct attention_ring {
  std::int64_t queries = 0, keys = 0;  ///< in the whole sequences
  std::int64_t devices = 1;
  bool causal = false;
  bool striped = false;
  bool both_ways = false;
  std::int64_t window = seen_positions::any, first = 0;  ///< as in seen_positions
  std::int64_t first_position = 0;                       ///< position of the query of index 0
  std::int64_t tile = 64;                                ///< the least number of queries in a product that a window
                                                         ///< cuts

  // --- chunks -------------------------------------------------------------------------------------------------------

  [[nodiscard]] constexpr sequence_chunk chunk(std::int64_t extent, std::int64_t device, int number) const {
    range const held = block(extent, device, devices), part = block(held.size(), number, 2);
    if (!striped) return {part, held.begin + part.begin};
    return {part, (number == 0 ? device : 2 * devices - 1 - device) * part.size()};
  }

  [[nodiscard]] constexpr seen_positions seen() const { return {causal, window, first}; }
  [[nodiscard]] constexpr chunk_seen sees(sequence_chunk const& q, sequence_chunk const& k) const {
    return seen().of({q.first + first_position, q.first + first_position + q.where.size()},
                     {k.first, k.first + k.where.size()});
  }

  // --- pieces: chunks that circulate by themselves -------------------------------------------------------------------

  [[nodiscard]] constexpr int pieces() const { return both_ways || (striped && causal) ? 2 : 1; }
  [[nodiscard]] constexpr int first_chunk(int piece) const { return piece; }
  [[nodiscard]] constexpr int end_chunk(int piece) const { return pieces() == 2 ? piece + 1 : 2; }

  /// The indices of a piece in the block of keys of a device.
  [[nodiscard]] constexpr range piece(std::int64_t home, int number) const {
    return {chunk(keys, home, first_chunk(number)).where.begin, chunk(keys, home, end_chunk(number) - 1).where.end};
  }

  /// +1: to the next device; −1: to the previous one.
  [[nodiscard]] constexpr int direction(int piece) const {
    return both_ways ? (piece == 0 ? 1 : -1) : striped && causal ? -1 : 1;
  }
  /// The device that holds a piece after `hops` hops, and below, the home of the piece that a device holds then.
  [[nodiscard]] constexpr std::int64_t visited(std::int64_t home, int piece, std::int64_t hops) const {
    return ((home + direction(piece) * hops) % devices + devices) % devices;
  }
  [[nodiscard]] constexpr std::int64_t home_of(std::int64_t device, int piece, std::int64_t hops) const {
    return visited(device, piece, -hops);
  }

  /// True if queries of the device see some of the piece.
  [[nodiscard]] constexpr bool needs(std::int64_t device, std::int64_t home, int piece) const {
    for (int k = first_chunk(piece); k < end_chunk(piece); ++k)
      for (int q = 0; q < 2; ++q)
        if (sees(chunk(queries, device, q), chunk(keys, home, k)) != chunk_seen::none) return true;
    return false;
  }
  /// The last hop that brings a piece to a device that needs it; 0 if no other device does.
  [[nodiscard]] constexpr std::int64_t last_hop(std::int64_t home, int piece) const {
    for (std::int64_t hop = devices - 1; hop > 0; --hop)
      if (needs(visited(home, piece, hop), home, piece)) return hop;
    return 0;
  }
  /// The first such hop; from there on, the cotangents of the piece travel with it.
  [[nodiscard]] constexpr std::int64_t first_hop(std::int64_t home, int piece) const {
    for (std::int64_t hop = 1; hop < devices; ++hop)
      if (needs(visited(home, piece, hop), home, piece)) return hop;
    return 0;
  }

  // --- moves and work ------------------------------------------------------------------------------------------------

  /// The number of keys that all devices together send.
  [[nodiscard]] constexpr std::int64_t keys_sent() const {
    std::int64_t sent = 0;
    for (std::int64_t home = 0; home < devices; ++home)
      for (int p = 0; p < pieces(); ++p) sent += last_hop(home, p) * piece(home, p).size();
    return sent;
  }
  /// The number of keys whose cotangents are sent: from the first device that needs them to the last one, and home.
  [[nodiscard]] constexpr std::int64_t cotangents_sent() const {
    std::int64_t sent = 0;
    for (std::int64_t home = 0; home < devices; ++home)
      for (int p = 0; p < pieces(); ++p)
        if (std::int64_t const last = last_hop(home, p); last > 0)
          sent += (last - first_hop(home, p) + 1) * piece(home, p).size();
    return sent;
  }

 private:
  // The products of a pair of chunks. A window cuts them: some queries at a time, with the keys that they see. Defined
  // before its callers, because clang evaluates these where they are defined.
  template <class F>
  constexpr void for_each_tile(sequence_chunk const& q, sequence_chunk const& k, chunk_seen part, F const& f) const {
    range const all_keys{k.first, k.first + k.where.size()};
    int chunks = 1;
    auto const product = [&](range of_q, range of_k, chunk_seen seen_part) {  // positions
      auto const indices = [](range r, range where, std::int64_t at) {
        return range{where.begin + r.begin - at, where.begin + r.end - at};
      };
      f(ring_product{indices(of_q, q.where, q.first + first_position), indices(of_k, k.where, k.first),
                     seen_part == chunk_seen::some, of_q.begin, of_k.begin, chunks});
      chunks = 0;
    };
    range const all_queries{q.first + first_position, q.first + first_position + q.where.size()};
    if (part == chunk_seen::all || !seen().has_window()) return product(all_queries, all_keys, part);
    std::int64_t const rows = window / 4 > tile ? window / 4 : tile;
    for (std::int64_t begin = all_queries.begin; begin < all_queries.end; begin += rows) {
      range const some{begin, begin + rows < all_queries.end ? begin + rows : all_queries.end};
      range prefix = intersect(seen().prefix_of(some), all_keys),
            close_by = intersect(seen().window_of(some), all_keys);
      if (prefix.size() > 0 && close_by.size() > 0 && close_by.begin <= prefix.end) {
        close_by = {prefix.begin, close_by.end < prefix.end ? prefix.end : close_by.end};
        prefix = {};
      }
      for (range const r : {prefix, close_by})
        if (r.size() > 0) product(some, r, seen().of(some, r));
    }
  }

 public:
  /// Calls f(product) for the products of a device with the piece that it holds. A piece that all queries see is one
  /// product. `HasWindow`: false if it is known that there is no window.
  template <bool HasWindow = true, class F>
  constexpr void for_each_product(std::int64_t device, std::int64_t home, int piece_number, F const& f) const {
    range const own = block(queries, device, devices), part = piece(home, piece_number);
    int const from = first_chunk(piece_number), to = end_chunk(piece_number);
    std::array<sequence_chunk, 2> const q{chunk(queries, device, 0), chunk(queries, device, 1)};
    auto const is_whole = [&](int begin, int end) {  // true if all queries see all of these keys
      for (int k = begin; k < end; ++k)
        for (sequence_chunk const& c : q)
          if (sequence_chunk const of_keys = chunk(keys, home, k);
              c.where.size() > 0 && of_keys.where.size() > 0 && sees(c, of_keys) != chunk_seen::all)
            return false;
      return true;
    };
    auto const pairs = [&](int begin, int end) {
      int n = 0;
      for (int k = begin; k < end; ++k)
        for (sequence_chunk const& c : q) n += c.where.size() > 0 && chunk(keys, home, k).where.size() > 0 ? 1 : 0;
      return n;
    };
    auto const whole = [&](range k, int n) {
      if (n > 0) f(ring_product{{0, own.size()}, k, false, 0, 0, n});
    };
    if (is_whole(from, to)) return whole(part, pairs(from, to));
    for (int k = from; k < to; ++k) {
      sequence_chunk const of_keys = chunk(keys, home, k);
      if (is_whole(k, k + 1)) {
        whole(of_keys.where, pairs(k, k + 1));
        continue;
      }
      for (sequence_chunk const& c : q)
        if (chunk_seen const some = sees(c, of_keys); some == chunk_seen::none)
          continue;
        else if constexpr (HasWindow)
          for_each_tile(c, of_keys, some, f);
        else
          f(ring_product{c.where, of_keys.where, some == chunk_seen::some, c.first, of_keys.first, 1});
    }
  }

  /// The number of pairs of a query and a key that a device multiplies. All pairs of a masked product count.
  [[nodiscard]] constexpr std::int64_t pairs(std::int64_t device) const {
    std::int64_t n = 0;
    for (std::int64_t home = 0; home < devices; ++home)
      for (int p = 0; p < pieces(); ++p)
        for_each_product(device, home, p, [&](ring_product const& m) { n += m.queries.size() * m.keys.size(); });
    return n;
  }
  /// The number of such pairs on the device with the most.
  [[nodiscard]] constexpr std::int64_t most_pairs() const {
    std::int64_t most = 0;
    for (std::int64_t d = 0; d < devices; ++d)
      if (std::int64_t const n = pairs(d); n > most) most = n;
    return most;
  }

  /// The number of pairs of chunks that a device multiplies.
  [[nodiscard]] constexpr std::int64_t products(std::int64_t device) const {
    std::int64_t n = 0;
    for (std::int64_t home = 0; home < devices; ++home)
      for (int p = 0; p < pieces(); ++p)
        for_each_product(device, home, p, [&](ring_product const& product) { n += product.chunks; });
    return n;
  }
};

}  // namespace ostraka::planner
