// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The last device holds the largest block of every tensor in the last of all passes, and members of a group are
/// counted as the running mesh counts them.

#include <doctest/doctest.h>

#include <ostraka/plan/decisions/viewpoint.hpp>

using namespace ostraka::planner;

namespace {

// True if the last device holds as much of an axis as any, in any of `parts` passes.
bool holds_most(std::int64_t n, std::int64_t p, std::int64_t parts, bool of_each_block) {
  extents e;
  e.labels = 1;
  e.mesh_axes = 1;
  e.label[0] = n;
  e.mesh[0] = p;
  e.now = {0, of_each_block, 0, parts};
  mesh_order x;
  x.push_back(0);
  spec s;
  s.push_back(0, x);
  std::int64_t most = 0;
  for (e.now.part = 0; e.now.part < parts; ++e.now.part)
    for (std::int64_t d = 0; d < p; ++d) most = std::max(most, block_size(s, {{d}}, e));
  e.now.part = 0;
  viewpoint const last = last_device(e);
  return block_size(s, last.here, last.sizes) == most && largest_block(s, e) == most;
}

}  // namespace

TEST_CASE("no device holds more of an axis than the last, in no pass more than in the last") {
  int wrong = 0;
  for (std::int64_t n = 0; n < 60; ++n)
    for (std::int64_t p = 1; p < 14; ++p)
      for (std::int64_t parts = 1; parts <= 9; ++parts)
        for (bool of_each_block : {true, false}) wrong += holds_most(n, p, parts, of_each_block) ? 0 : 1;
  CHECK(wrong == 0);
}

TEST_CASE("an axis over several mesh axes") {
  extents e;
  e.labels = 1;
  e.mesh_axes = 3;
  e.mesh[0] = 2;
  e.mesh[1] = 3;
  e.mesh[2] = 5;
  mesh_order order;
  for (int m : {2, 0, 1}) order.push_back(m);
  spec s;
  s.push_back(0, order);
  for (e.label[0] = 0; e.label[0] < 70; ++e.label[0])
    CHECK(block_size(s, last_device(e).here, e) == largest_block(s, e));
}

TEST_CASE("members of a group count the running mesh's axes, the first major") {
  viewpoint v;
  v.sizes.mesh_axes = 3;
  v.sizes.mesh[0] = 2;
  v.sizes.mesh[1] = 3;
  v.sizes.mesh[2] = 4;
  v.here = {{1, 2, 3}};
  mesh_set const axes = mesh_set::of(0) | mesh_set::of(2);
  for (bool turned : {false, true}) {
    v.order[0] = turned ? 2 : 0;
    v.order[2] = turned ? 0 : 2;
    for (std::int64_t number = 0; number < 8; ++number) {
      coordinates const c = v.member(axes, number);
      CHECK((turned ? c.at[2] * 2 + c.at[0] : c.at[0] * 4 + c.at[2]) == number);
      CHECK(c.at[1] == 2);
      viewpoint other = v;
      other.here = c;
      CHECK(other.number_in(axes) == number);
    }
  }
  CHECK(v.first_along(mesh_set{}));
  CHECK(!v.first_along(axes));
}
