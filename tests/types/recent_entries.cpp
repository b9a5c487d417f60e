// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// A cache of few entries: it grows up to its limit, then drops the oldest entry, one at a time, and none is lost or
/// dropped twice.
// ranks: 1
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include <ostraka/types/support/recent_entries.hpp>

using ostraka::recent_entries;

namespace {

template <class Entries>
std::vector<int> listed(Entries const& entries) {
  return {entries.begin(), entries.end()};
}

}  // namespace

TEST_CASE("up to the limit nothing is dropped, and then the oldest each time") {
  recent_entries<int, 3> entries;
  std::vector<int> dropped;
  auto const add = [&](int n) { return entries.add(n, [&](int oldest) { dropped.push_back(oldest); }); };
  CHECK(entries.empty());
  for (int n = 1; n <= 3; ++n) CHECK(add(n) == n);
  CHECK(listed(entries) == std::vector{1, 2, 3});
  CHECK(dropped.empty());
  for (int n = 4; n <= 11; ++n) CHECK(add(n) == n);
  CHECK(listed(entries) == std::vector{10, 11, 9});
  CHECK(dropped == std::vector{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK_FALSE(entries.empty());
}

TEST_CASE("one entry") {
  recent_entries<int, 1> entries;
  for (int n = 1; n <= 3; ++n) {
    CHECK(entries.add(n) == n);
    CHECK(listed(entries) == std::vector{n});
  }
}

TEST_CASE("after clear the first entry is the oldest again") {
  recent_entries<int, 2> entries;
  for (int n = 1; n <= 3; ++n) entries.add(n);
  entries.clear();
  CHECK(entries.empty());
  for (int n = 4; n <= 6; ++n) entries.add(n);
  CHECK(listed(entries) == std::vector{6, 5});
}

TEST_CASE("an entry that is replaced is destroyed, and one that is returned may be changed") {
  recent_entries<std::shared_ptr<int>, 2> entries;
  std::weak_ptr<int> const first = entries.add(std::make_shared<int>(1));
  *entries.add(std::make_shared<int>(2)) = 20;
  CHECK_FALSE(first.expired());
  entries.add(std::make_shared<int>(3));
  CHECK(first.expired());
  CHECK(*entries.begin()[0] == 3);
  CHECK(*entries.begin()[1] == 20);
}
