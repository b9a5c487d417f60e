// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The elements that a padded block receives, against the owner of every index: two axes of 0 to 4 indices in 1 to 3
/// blocks of the block distribution or of another rule, margins of different widths, ends and rings, with corners and
/// without.

#include <doctest/doctest.h>

#include <ostraka/plan/blocks/halo_overlaps.hpp>

#include <cstdint>
#include <vector>

using namespace ostraka::planner;

namespace {

/// The axes to test: margins are at most as wide as the axis.
std::vector<padded_axis> axes() {
  std::vector<padded_axis> all;
  for (std::int64_t whole = 0; whole <= 4; ++whole)
    for (std::int64_t ways = 1; ways <= 3; ++ways)
      for (std::int64_t before = 0; before <= 2; ++before)
        for (std::int64_t behind = 0; behind <= 2; ++behind)
          for (bool const periodic : {false, true})
            if (before <= whole && behind <= whole) all.push_back({whole, ways, before, behind, periodic});
  static constexpr std::int64_t remainder_first[] = {0, 2, 3, 4}, with_empty[] = {0, 0, 3, 3}, two[] = {0, 1, 4};
  for (bool const periodic : {false, true}) {
    all.push_back({4, 3, 1, 2, periodic, remainder_first});
    all.push_back({3, 3, 2, 1, periodic, with_empty});
    all.push_back({4, 2, 1, 1, periodic, two});
  }
  return all;
}

std::int64_t begin_of(padded_axis const& a, std::int64_t number) {
  return a.begins == nullptr ? number * a.whole / a.ways : a.begins[number];
}

/// The block that holds an index of a padded block, −1 beyond the ends.
std::int64_t owner(padded_axis const& a, std::int64_t index) {
  if (a.periodic && a.whole > 0) index = (index % a.whole + a.whole) % a.whole;
  for (std::int64_t k = 0; k < a.ways; ++k)
    if (index >= begin_of(a, k) && index < begin_of(a, k + 1)) return k;
  return -1;
}

/// The elements of the padded block that other blocks hold, one by one.
std::int64_t counted(padded_axis const (&axis)[2], std::int64_t const (&number)[2], bool corners) {
  std::int64_t begin[2], end[2], received = 0;
  for (int d = 0; d < 2; ++d) {
    begin[d] = begin_of(axis[d], number[d]);
    end[d] = begin_of(axis[d], number[d] + 1);
  }
  for (std::int64_t i = begin[0] - axis[0].before; i < end[0] + axis[0].behind; ++i)
    for (std::int64_t j = begin[1] - axis[1].before; j < end[1] + axis[1].behind; ++j) {
      int const margins = (i < begin[0] || i >= end[0] ? 1 : 0) + (j < begin[1] || j >= end[1] ? 1 : 0);
      std::int64_t const from[2] = {owner(axis[0], i), owner(axis[1], j)};
      bool const is_there = from[0] >= 0 && from[1] >= 0 && (corners || margins <= 1);
      if (is_there && (from[0] != number[0] || from[1] != number[1])) ++received;
    }
  return received;
}

}  // namespace

TEST_CASE("the elements that a padded block receives") {
  std::int64_t wrong = 0, tested = 0;
  for (padded_axis const& i : axes())
    for (padded_axis const& j : axes()) {
      padded_axis const both[2] = {i, j};
      for (std::int64_t a = 0; a < i.ways; ++a)
        for (std::int64_t b = 0; b < j.ways; ++b)
          for (bool const corners : {false, true}) {
            std::int64_t const number[2] = {a, b};
            wrong += elements_received(both, number, 2, corners) == counted(both, number, corners) ? 0 : 1;
            ++tested;
          }
    }
  CHECK(tested > 100000);
  CHECK(wrong == 0);
}
