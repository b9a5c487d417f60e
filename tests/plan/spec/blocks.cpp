// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The block distribution: device d of p holds [⌊d·n/p⌋, ⌊(d+1)·n/p⌋). Blocks are a partition in order, differ by at
/// most one, and nest: those of I/X/Y refine those of I/X. For any extents, smaller than the mesh and zero included.

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <support/simulated_mesh.hpp>

#include "plan/every_spec.hpp"

using namespace ostraka::testing;
using ostraka::planner::block;
using ostraka::planner::coordinates;
using ostraka::planner::coordinates_of;
using ostraka::planner::intersect;
using ostraka::planner::range;

namespace {

constexpr bool test_partition(std::int64_t most) {
  for (std::int64_t n = 0; n <= most; ++n)
    for (std::int64_t p = 1; p <= most; ++p) {
      std::int64_t next = 0;
      for (std::int64_t d = 0; d < p; ++d) {
        range const b = block(n, d, p);
        if (b.begin != next || b.size() < n / p || b.size() > (n + p - 1) / p) return false;
        if (n % p == 0 && b.size() != n / p) return false;
        next = b.end;
      }
      if (next != n) return false;
    }
  return true;
}

// Block (x, y) of X and Y, X major, is within block x of X, and those of all y make it up.
constexpr bool test_nesting(std::int64_t most) {
  for (std::int64_t n = 0; n <= most; ++n)
    for (std::int64_t nx = 1; nx <= 5; ++nx)
      for (std::int64_t ny = 1; ny <= 5; ++ny)
        for (std::int64_t x = 0; x < nx; ++x) {
          range const outer = block(n, x, nx);
          std::int64_t next = outer.begin;
          for (std::int64_t y = 0; y < ny; ++y) {
            range const inner = block(n, x * ny + y, nx * ny);
            if (inner.begin != next || intersect(inner, outer) != inner) return false;
            next = inner.end;
          }
          if (next != outer.end) return false;
        }
  return true;
}

constexpr bool test_by_hand() {
  // 5 over 3: 1, 2, 2. 2 over 4: 0, 1, 0, 1. 1 over 3: the last device has it. 0: none has any.
  bool good = block(5, 0, 3) == range{0, 1} && block(5, 1, 3) == range{1, 3} && block(5, 2, 3) == range{3, 5};
  good = good && block(2, 0, 4).size() == 0 && block(2, 1, 4) == range{0, 1} && block(2, 2, 4).size() == 0 &&
         block(2, 3, 4) == range{1, 2};
  good = good && block(1, 0, 3).size() == 0 && block(1, 1, 3).size() == 0 && block(1, 2, 3) == range{0, 1};
  good = good && block(0, 0, 2) == range{0, 0} && block(0, 1, 2) == range{0, 0};
  return good && block(std::int64_t{1} << 40, 1023, 1024) == range{(std::int64_t{1023} << 30), std::int64_t{1} << 40};
}

constexpr bool test_intersection() {
  return intersect({0, 5}, {3, 8}) == range{3, 5} && intersect({3, 8}, {0, 5}) == range{3, 5} &&
         intersect({0, 2}, {5, 8}).size() == 0 && intersect({5, 8}, {0, 2}).size() == 0 &&
         intersect({1, 4}, {1, 4}) == range{1, 4} && intersect({2, 2}, {0, 9}).size() == 0;
}

static_assert(test_partition(12));
static_assert(test_nesting(8));
static_assert(test_by_hand());
static_assert(test_intersection());

// Shards of I and J over the axes of a mesh against loops over the devices.
std::int64_t compare_with_loops(extents const& e, labels const& dims, std::int64_t& known_in_parts) {
  simulated_mesh const mesh(e);
  std::int64_t compared = 0;
  auto const specs = every_spec(dims, e.mesh_axes);
  for (spec const& s : specs) {
    std::int64_t largest = 0;
    for (std::size_t d = 0; d < mesh.devices(); ++d) {
      coordinates const at = coordinates_of(static_cast<std::int64_t>(d), mesh_set::first(e.mesh_axes), e);
      box const b = mesh.block_of(s, d);
      for (int i = 0; i < s.rank; ++i) CHECK(ostraka::planner::range_of(s, i, at, e) == range{b.begin[i], b.end[i]});
      CHECK(ostraka::planner::block_size(s, at, e) == b.size());
      largest = b.size() > largest ? b.size() : largest;
    }
    CHECK(ostraka::planner::largest_block(s, e) == largest);
    CHECK(ostraka::planner::held_by_all(s, e) == mesh.held(s));
    for (spec const& t : specs) {
      std::int64_t const both = mesh.held(t) - mesh.missing(s, t);
      CHECK(ostraka::planner::held_by_both(s, t, e) == both);
      mesh_set const axes = s.splits() | t.splits();
      std::int64_t const in_parts = ostraka::planner::detail::held_by_both_in_parts(s, t, axes, e);
      if (in_parts >= 0) CHECK(in_parts * (e.devices() / e.ways(axes)) == both);
      known_in_parts += in_parts >= 0 ? 1 : 0;
      ++compared;
    }
  }
  return compared;
}

}  // namespace

TEST_CASE("blocks are a partition in order, as even as can be") { CHECK(test_partition(80)); }

TEST_CASE("blocks nest") { CHECK(test_nesting(120)); }

TEST_CASE("blocks by hand") {
  CHECK(test_by_hand());
  CHECK(test_intersection());
}

TEST_CASE("what devices hold is what loops over the devices find") {
  std::int64_t compared = 0, in_parts = 0;
  for (auto const& mesh : std::vector<std::vector<std::int64_t>>{{1}, {3}, {4}, {2, 3}, {4, 2}, {2, 2, 3}})
    for (auto const& extent : std::vector<std::vector<std::int64_t>>{{7, 5}, {1, 2}, {0, 3}, {12, 24}}) {
      compared += compare_with_loops(make_extents(1, extent, mesh), {0}, in_parts);
      compared += mesh.size() < 3 ? compare_with_loops(make_extents(2, extent, mesh), {0, 1}, in_parts) : 0;
    }
  MESSAGE(compared, " pairs of shardings, of which ", in_parts, " are known without a loop");
  CHECK(in_parts > compared / 2);
  CHECK(compared == 9468);
}
