// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Indices dealt in blocks, and their intersections with ranges, against loops over single indices.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <ostraka/plan/blocks/combs.hpp>

namespace pl = ostraka::planner;

namespace {

// Indices of device `number`, in the order in which it counts them.
std::vector<std::int64_t> indices(std::int64_t n, std::int64_t number, std::int64_t ways, std::int64_t block) {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < n; ++i)
    if (i / block % ways == number) found.push_back(i);
  return found;
}

int wrong(pl::comb const& c, std::vector<std::int64_t> const& held, pl::range r) {
  std::vector<std::int64_t> wanted, got;
  int bad = 0;
  for (std::int64_t i : held)
    if (i >= r.begin && i < r.end) wanted.push_back(i);
  for (pl::stretch const& s : pl::common_stretches(c, r))
    for (std::int64_t k = 0; k < s.count; ++k)
      for (std::int64_t j = 0; j < s.size; ++j) {
        std::int64_t const i = s.begin + k * s.step + j;
        auto const local = static_cast<std::size_t>(s.local + k * s.local_step + j);
        got.push_back(i);
        if (local >= held.size() || held[local] != i) ++bad;
      }
  return bad + (got != wanted ? 1 : 0);
}

constexpr bool of_eleven() {
  return pl::dealt(11, 1, 2, 2).size() == 5 && pl::common_stretches(pl::dealt(11, 1, 2, 2), {3, 11}).size() == 3;
}
static_assert(of_eleven());

}  // namespace

TEST_CASE("what is dealt, and its common part with every range") {
  for (std::int64_t n = 0; n <= 12; ++n)
    for (std::int64_t ways = 1; ways <= 3; ++ways)
      for (std::int64_t block : {1, 2, 3, 5, 100})
        for (std::int64_t number = 0; number < ways; ++number) {
          auto const held = indices(n, number, ways, block);
          pl::comb const c = pl::dealt(n, number, ways, block);
          INFO(n, " ", number, " of ", ways, " by ", block);
          CHECK(c.size() == static_cast<std::int64_t>(held.size()));
          for (std::int64_t begin = 0; begin <= n; ++begin)
            for (std::int64_t end = begin; end <= n; ++end) CHECK(wrong(c, held, {begin, end}) == 0);
        }
}

TEST_CASE("a range is one block") {
  for (std::int64_t begin = 0; begin <= 4; ++begin)
    for (std::int64_t end = begin; end <= 4; ++end) {
      std::vector<std::int64_t> held;
      for (std::int64_t i = begin; i < end; ++i) held.push_back(i);
      for (std::int64_t b = 0; b <= 4; ++b)
        for (std::int64_t e = b; e <= 4; ++e) CHECK(wrong(pl::comb_of({begin, end}), held, {b, e}) == 0);
      CHECK(pl::comb_of({begin, end}).size() == end - begin);
    }
}
