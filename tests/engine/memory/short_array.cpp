// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// Short arrays against std::vector: in place, beyond, and in memory that was used before.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <ostraka/engine/memory/short_array.hpp>

using ostraka::engine::counts_view;
using ostraka::engine::short_array;

TEST_CASE("what is put in comes out, however long") {
  for (std::size_t n :
       {std::size_t(0), std::size_t(1), std::size_t(4), std::size_t(5), std::size_t(300), std::size_t(7)}) {
    short_array<std::int64_t, 4> one;
    short_array<std::int64_t, 4> other(n, [](std::size_t i) { return -static_cast<std::int64_t>(i); });
    std::vector<std::int64_t> expected;
    for (std::size_t i = 0; i < n; ++i) {
      one.push_back(static_cast<std::int64_t>(i * i));
      expected.push_back(static_cast<std::int64_t>(i * i));
    }
    CAPTURE(n);
    CHECK(std::vector<std::int64_t>(one.begin(), one.end()) == expected);
    REQUIRE(other.size() == n);
    for (std::size_t i = 0; i < n; ++i) CHECK(other[i] == -static_cast<std::int64_t>(i));
    one.clear();
    CHECK(one.empty());
  }
}

TEST_CASE("memory that one has left is the next one's") {
  void const* first = nullptr;
  {
    short_array<std::int64_t, 2> const a(1000);
    first = a.data();
  }
  short_array<std::int64_t, 2> const b(1000);
  CHECK(b.data() == first);
  short_array<std::int64_t, 2> const c(1000);
  CHECK(c.data() != first);
}

TEST_CASE("counts are summed and compared") {
  std::vector<std::int64_t> const even(3, 5), uneven{5, 5, 6}, none;
  CHECK(counts_view(even).total() == 15);
  CHECK(counts_view(even).all_equal());
  CHECK(counts_view(uneven).total() == 16);
  CHECK(!counts_view(uneven).all_equal());
  CHECK(counts_view(none).total() == 0);
  CHECK(counts_view(none).all_equal());
}
