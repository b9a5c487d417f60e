// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Blocks that are passed on from turn to turn, against a formula that every device can evaluate for all others:
/// element i that device d sends to device e in turn t. Rings, both directions at once, some turns without messages.
// ranks: 1 2 3 4
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <ostraka/engine/moves/relay.hpp>

using namespace ostraka::engine;

namespace {

using exec_space = Kokkos::DefaultHostExecutionSpace;

double element(int turn, int from, int to, std::int64_t i) {
  return 1000 * turn + 100 * from + 10 * to + static_cast<double>(i);
}

// True if a device sends to another in a turn: to the next one, in some turns also to the previous one, in some
// nothing.
bool sends(int turn, int from, int to, int members) {
  if (from == to || turn % 5 == 4) return false;
  return to == (from + 1) % members || (turn % 3 == 1 && from == (to + 1) % members);
}

std::int64_t count_of(int turn) { return turn % 4 == 2 ? 0 : 7 + 500 * turn; }

// Runs some turns; returns how many elements were wrong. It overwrites sent elements as soon as that is allowed.
std::int64_t wrong_elements(communicator const& members, int turns) {
  int const me = members.rank(), n = members.size();
  std::vector<std::vector<std::vector<double>>> sent(turns, std::vector<std::vector<double>>(n)), received = sent;
  relay<exec_space, double> messages(exec_space(), members);
  std::int64_t wrong = 0;
  for (int t = 0; t < turns + 1; ++t) {
    messages.arrive();
    if (t > 0)
      for (int d = 0; d < n; ++d)
        for (std::size_t i = 0; i < received[t - 1][d].size(); ++i)
          wrong += received[t - 1][d][i] != element(t - 1, d, me, static_cast<std::int64_t>(i)) ? 1 : 0;
    if (t > 1)
      for (auto& to : sent[t - 2]) to.assign(to.size(), -1);
    if (t == turns) break;
    auto const count = static_cast<std::size_t>(count_of(t));
    for (int d = 0; d < n; ++d)
      if (sends(t, d, me, n)) {
        received[t][d].assign(count, -1);
        messages.receive(d, received[t][d].data(), count_of(t));
      }
    for (int d = 0; d < n; ++d)
      if (sends(t, me, d, n)) {
        for (std::size_t i = 0; i < count; ++i) sent[t][d].push_back(element(t, me, d, static_cast<std::int64_t>(i)));
        messages.send(d, sent[t][d].data(), count_of(t));
      }
  }
  return wrong;
}

}  // namespace

TEST_CASE("what is sent in a turn is there in the next one") {
  communicator const world = communicator::world();
  for (int turns = 0; turns < 16; ++turns) CHECK(wrong_elements(world, turns) == 0);
}

TEST_CASE("long messages travel in pieces") {
  std::int64_t const before = chunk_limit;
  chunk_limit = 100;
  CHECK(wrong_elements(communicator::world(), 6) == 0);
  chunk_limit = before;
}
