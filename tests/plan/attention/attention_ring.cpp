// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The table of ring attention against every pair of a query and a key: for all extents and numbers of devices, in
/// order and striped, in one direction and both, products cover the visible pairs, once, and a piece goes only as far
/// as the last device that needs it.

#include <doctest/doctest.h>

#include <ostraka/plan/attention/attention_ring.hpp>
#include <ostraka/plan/blocks/stripes.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace ostraka::planner;

namespace {

constexpr attention_ring ring(std::int64_t queries, std::int64_t keys, std::int64_t devices, bool causal, bool striped,
                              bool both_ways) {
  return {queries, keys, devices, causal, striped, both_ways};
}

constexpr bool is_balanced() {
  attention_ring const striped = ring(64, 64, 4, true, true, false), in_order = ring(64, 64, 4, true, false, false);
  for (std::int64_t d = 0; d < 4; ++d)
    if (striped.products(d) != 9 || in_order.products(d) != 4 * d + 3) return false;
  // Gathering moves 3 · 64 keys: striped, three quarters of them move, in order half.
  return striped.keys_sent() == 144 && in_order.keys_sent() == 96 &&
         ring(64, 64, 4, false, true, true).keys_sent() == 192;
}
static_assert(is_balanced());

bool sees(attention_ring const& r, std::int64_t query, std::int64_t key) {
  query += r.first_position;
  if (r.causal && key > query) return false;
  return key < r.first || (key < query + r.window && key > query - r.window);
}

/// Counts how often each pair is multiplied and not hidden by its row's length.
void check(attention_ring const& r) {
  stripes const of_queries{r.queries, r.striped ? r.devices : 0}, of_keys{r.keys, r.striped ? r.devices : 0};
  std::vector<int> seen(static_cast<std::size_t>(r.queries * r.keys), 0);
  for (std::int64_t device = 0; device < r.devices; ++device)
    for (std::int64_t home = 0; home < r.devices; ++home)
      for (int piece = 0; piece < r.pieces(); ++piece) {
        bool any = false;
        std::int64_t const q0 = block(r.queries, device, r.devices).begin, k0 = block(r.keys, home, r.devices).begin;
        r.for_each_product(device, home, piece, [&](ring_product const& m) {
          any = true;
          for (std::int64_t q = m.queries.begin; q < m.queries.end; ++q)
            for (std::int64_t k = m.keys.begin; k < m.keys.end; ++k)
              if (!m.is_masked ||
                  sees(r, m.first_query + q - m.queries.begin - r.first_position, m.first_key + k - m.keys.begin))
                ++seen[static_cast<std::size_t>((q0 + q) * r.keys + k0 + k)];
        });
        CHECK(any == r.needs(device, home, piece));
      }
  std::int64_t wrong = 0;
  for (std::int64_t q = 0; q < r.queries; ++q)
    for (std::int64_t k = 0; k < r.keys; ++k)
      wrong += seen[static_cast<std::size_t>(q * r.keys + k)] !=
               (sees(r, of_queries.position(q), of_keys.position(k)) ? 1 : 0);
  CHECK(wrong == 0);

  std::int64_t sent = 0;
  for (std::int64_t home = 0; home < r.devices; ++home)
    for (int piece = 0; piece < r.pieces(); ++piece) {
      std::int64_t last = 0;
      for (std::int64_t hop = 1; hop < r.devices; ++hop) {
        std::int64_t const there = r.visited(home, piece, hop);
        CHECK(r.home_of(there, piece, hop) == home);
        if (r.needs(there, home, piece)) last = hop;
      }
      CHECK(r.last_hop(home, piece) == last);
      sent += last * r.piece(home, piece).size();
    }
  CHECK(r.keys_sent() == sent);
  CHECK(r.cotangents_sent() <= sent);
}

}  // namespace

TEST_CASE("products cover what is seen, once") {
  for (std::int64_t n = 1; n <= 8; ++n)
    for (bool const causal : {false, true})
      for (bool const both : {false, true}) {
        for (std::int64_t const queries : {0, 1, 7, 16})
          for (std::int64_t const keys : {0, 1, 5, 16, 19}) {
            INFO(n, " devices, ", queries, " queries, ", keys, " keys");
            check(ring(queries, keys, n, causal, false, both));
          }
        for (std::int64_t const chunk : {0, 1, 3}) {
          INFO(n, " devices, stripes of ", chunk);
          check(ring(2 * n * chunk, 2 * n * chunk, n, causal, true, both));
          check(ring(2 * n, 2 * n * chunk, n, causal, true, both));
        }
      }
}

TEST_CASE("a window leaves out what no query sees") {
  for (std::int64_t n = 1; n <= 4; ++n)
    for (bool const causal : {false, true})
      for (bool const striped : {false, true})
        for (bool const both : {false, true})
          for (std::int64_t const extent : {0, 1, 2, 3, 8, 24}) {
            if (striped && extent % (2 * n) != 0) continue;
            for (std::int64_t const window : {0, 1, 2, 3, 7, 24})
              for (std::int64_t const first : {0, 1, 4})
                for (std::int64_t const position : {0, 3}) {
                  attention_ring r = ring(extent, striped ? extent : extent + position, n, causal, striped, both);
                  r.window = window;
                  r.first = first;
                  r.first_position = striped ? 0 : position;
                  for (r.tile = 1; r.tile <= 4; r.tile += 3) {
                    INFO(n, " devices, ", extent, " queries, ", window, " ", first, " from ", position, " ", causal,
                         striped);
                    check(r);
                  }
                }
          }
  // A long sequence on one device: about a window of keys for each query, not all of them.
  attention_ring r = ring(4096, 4096, 1, true, false, false);
  r.window = 256;
  std::int64_t pairs = 0;
  r.for_each_product(0, 0, 0, [&](ring_product const& m) { pairs += m.queries.size() * m.keys.size(); });
  CHECK(pairs < 4096 * (256 + 64 + 1));
  r.devices = 8;  // a part reaches the next device alone
  CHECK(r.keys_sent() == 7 * 512);
}
