// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Places of buffers in one workspace, with random lives: buffers that exist at the same time do not overlap, and
/// together they take little more than the most that exists at once.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/plan/lowering/place.hpp>

namespace planner = ostraka::planner;

namespace {

// A dozen buffers, taken and returned one after another, at least two and at most five at once.
template <class Random>
ostraka::dynamic_array<planner::buffer> random_lives(Random const& random) {
  ostraka::dynamic_array<planner::buffer> buffers;
  std::vector<std::size_t> there;
  int now = 0;
  while (buffers.size() < 12 || !there.empty()) {
    if (buffers.size() < 12 && (there.size() < 2 || (there.size() < 5 && random(2) == 0))) {
      there.push_back(buffers.size());
      buffers.push_back({static_cast<std::int64_t>(1 + random(200)), now++, 0});
    } else {
      std::size_t const i = random(there.size());
      buffers[there[i]].given_back = now++;
      there.erase(there.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return buffers;
}

bool at_once(planner::buffer const& a, planner::buffer const& b) {
  return std::max(a.taken, b.taken) < std::min(a.given_back, b.given_back);
}

std::int64_t most_at_once(ostraka::dynamic_array<planner::buffer> const& buffers) {
  std::int64_t most = 0;
  for (int t = 0; t < 24; ++t) {
    std::int64_t now = 0;
    for (planner::buffer const& b : buffers) now += b.taken <= t && t < b.given_back ? b.elements : 0;
    most = std::max(most, now);
  }
  return most;
}

}  // namespace

TEST_CASE("buffers that are there at the same time lie apart, and take little more than they are") {
  std::uint64_t state = 7;
  auto const random = [&](std::uint64_t n) {
    return state = state * 6364136223846793005u + 1442695040888963407u, (state >> 33) % n;
  };
  int tight = 0;
  for (int trial = 0; trial < 400; ++trial) {
    ostraka::dynamic_array<planner::buffer> buffers = random_lives(random);
    std::int64_t const most = most_at_once(buffers);
    std::int64_t const length = planner::place_buffers(buffers, 8);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      REQUIRE(buffers[i].at >= 0);
      REQUIRE(buffers[i].at + buffers[i].elements <= length);
      for (std::size_t k = 0; k < i; ++k) {
        bool const apart = buffers[i].at + buffers[i].elements <= buffers[k].at ||
                           buffers[k].at + buffers[k].elements <= buffers[i].at;
        bool const well_placed = apart || !at_once(buffers[i], buffers[k]);
        REQUIRE(well_placed);
      }
    }
    CHECK(length >= most);
    CHECK(2 * length <= 3 * most);
    tight += length == most ? 1 : 0;
  }
  MESSAGE(tight, " of 400 schedules take what is there at once");
  CHECK(tight > 200);
}

TEST_CASE("a line of the cache begins each buffer where that takes no more") {
  ostraka::dynamic_array<planner::buffer> buffers = {{16, 0, 2}, {5, 1, 3}};
  CHECK(planner::place_buffers(buffers, 8) == 21);
  CHECK(buffers[0].at == 0);
  CHECK(buffers[1].at == 16);
  buffers = {{5, 0, 2}, {5, 1, 3}};
  CHECK(planner::place_buffers(buffers, 8) == 10);
}
