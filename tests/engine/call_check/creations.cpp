// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// If first runs are compared, the members of a group always agree on whether they compare its creation, and whether
/// they know a call, whatever groups each of them has made, called or ended before with other ranks. A rank that
/// compares alone waits for ever, so this test hangs if they disagree.
// ranks: 2 3 4
// sham: 2 4
// checked: 3
// environment: OSTRAKA_CHECK_SPMD=first
// labels: essential
// timeout: 60
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/engine/call_check/observe_groups.hpp>
#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/groups/counted_collective.hpp>
#include <ostraka/engine/machine/this_thread.hpp>
#include <ostraka/engine/mesh/device_mesh.hpp>

#include "support/mpi_main.hpp"

#if OSTRAKA_ENABLE_MPI

namespace {

using namespace ostraka::engine;
namespace t = ostraka::testing;

ostraka::dynamic_array<int> numbers(std::vector<int> const& of) {
  ostraka::dynamic_array<int> list;
  for (int n : of) list.push_back(n);
  return list;
}

bool is_here(std::vector<int> const& members) {
  return std::find(members.begin(), members.end(), t::rank()) != members.end();
}

// Every member gives its rank.
void check_largest(communicator const& group, std::vector<int> const& members) {
  std::int64_t largest = t::rank();
  group.find_largest(&largest, 1);
  CHECK(largest == *std::max_element(members.begin(), members.end()));
}

// The same numbers on all ranks.
class common_numbers {
 public:
  explicit common_numbers(std::uint64_t seed) : state_(seed * 2 + 1) {}
  int below(int n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(n));
  }
  std::vector<int> some_ranks() {
    std::vector<int> all, some;
    for (int r = 0; r < t::ranks(); ++r) all.insert(all.begin() + below(r + 1), r);
    int const count = 2 + below(t::ranks() - 1);
    some.assign(all.begin(), all.begin() + count);
    return some;
  }

 private:
  std::uint64_t state_;
};

struct group_of_some {
  std::vector<int> members;
  communicator made;  // on members alone
};

}  // namespace

// The first of all cases: no rank has compared the creation of anything yet.
TEST_CASE("ranks that made a mesh of their own make groups with others that did not") {
  observe_groups();
  communicator const world = communicator::world();
  CHECK(world.compared() != compared_calls::none);
  MPI_Comm first_two = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, t::rank() < 2 ? 0 : MPI_UNDEFINED, t::rank(), &first_two);
  if (first_two != MPI_COMM_NULL) {
    require_agreement_to_create("make_mesh", first_two);
    device_mesh const own(communicator(first_two), {"X"}, {2});
    MPI_Comm_free(&first_two);
  }
  for (int r = 1; r < t::ranks(); ++r) {
    std::vector<int> const members{0, r};
    if (!is_here(members)) continue;
    communicator const pair = world.part(numbers(members));
    require_agreement(pair, [] { return std::string("a call"); });
    check_largest(pair, members);
  }
}

TEST_CASE("groups of some ranks begin, call, refuse calls and end in any order") {
  observe_groups();
  communicator const world = communicator::world();
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    common_numbers draw(seed);
    std::vector<group_of_some> groups;
    for (int step = 0; step < 60; ++step) {
      INFO("seed ", seed, ", step ", step);
      int const what = draw.below(6), word = draw.below(4);
      if (draw.below(4 * t::ranks()) == t::rank()) this_thread::sleep(300);
      if (what == 0 || groups.empty()) {
        std::vector<int> const members = draw.some_ranks();
        groups.push_back({members, is_here(members) ? world.part(numbers(members)) : communicator()});
        continue;
      }
      auto const chosen = static_cast<std::size_t>(draw.below(static_cast<int>(groups.size())));
      group_of_some const& g = groups[chosen];
      auto const who = static_cast<std::size_t>(draw.below(static_cast<int>(g.members.size())));
      if (what == 1) {
        groups.erase(groups.begin() + static_cast<long>(chosen));
      } else if (!is_here(g.members)) {
        continue;
      } else if (what == 2) {  // all ranks learn of the one that calls something else, and continue
        std::string const call = "step " + std::to_string(step) + (g.members[who] == t::rank() ? " by one" : " by all");
        CHECK_THROWS_AS(require_agreement(g.made, [&] { return call; }), ostraka::error);
      } else if (what == 3) {  // found by a key, which differs between ranks
        std::uint64_t const key = 100 * static_cast<std::uint64_t>(t::rank() + 1) + static_cast<std::uint64_t>(word);
        require_agreement(
            g.made, [&] { return key; }, [&] { return "call " + std::to_string(word); });
        check_largest(g.made, g.members);
      } else {
        require_agreement(g.made, [&] { return "call " + std::to_string(word); });
        check_largest(g.made, g.members);
      }
    }
  }
}

TEST_CASE("meshes over the same ranks begin and end, and only some lines of devices make their groups") {
  observe_groups();
  int const n = t::ranks();
  for (int turn = 0; turn < 12; ++turn) {
    require_agreement_to_create("make_mesh");
    device_mesh const one(communicator::world(), {"X", "Y"}, {n % 2 == 0 ? 2 : n, n % 2 == 0 ? n / 2 : 1});
    device_mesh const other(communicator::world(), {"X", "Y"}, {n % 2 == 0 ? n / 2 : 1, n % 2 == 0 ? 2 : n});
    for (device_mesh const* mesh : {&one, &other})
      for (int axis : {0, 1}) {
        int const line = mesh->coordinate(1 - axis);
        if ((turn >> axis) % 2 == line % 2) continue;
        communicator const& group = mesh->group(1u << axis);
        require_agreement(group, [] { return std::string("a call along a line"); });
        std::int64_t largest = mesh->coordinate(axis);
        group.find_largest(&largest, 1);
        CHECK(largest == mesh->size(axis) - 1);
      }
    std::int64_t turns = turn;
    (turn % 2 == 0 ? one : other).world().find_largest(&turns, 1);
    CHECK(turns == turn);
  }
}

#endif
