// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// Growing arrays against std::vector, elements that count how many of them there are, and values with several owners.
// ranks: 1
#include <doctest/doctest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/engine/memory/shared_value.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

using ostraka::dynamic_array;
using ostraka::engine::shared_value;

namespace {

int alive = 0;

// An element that counts its instances.
struct counted {
  int number = 0;
  explicit counted(int n = 0) : number(n) { ++alive; }
  counted(counted const& other) : number(other.number) {
    if (number == 13) throw std::runtime_error("not this one");
    ++alive;
  }
  counted(counted&& other) noexcept : number(other.number) { ++alive; }
  counted& operator=(counted const&) = default;
  counted& operator=(counted&&) = default;
  ~counted() { --alive; }
};

std::vector<std::string> as_vector(dynamic_array<std::string> const& a) { return {a.begin(), a.end()}; }

}  // namespace

TEST_CASE("what is put in comes out") {
  dynamic_array<std::string> a;
  std::vector<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    a.push_back(std::string(static_cast<std::size_t>(i), 'x'));
    expected.emplace_back(static_cast<std::size_t>(i), 'x');
  }
  CHECK(as_vector(a) == expected);
  CHECK(a.back() == expected.back());
  a.push_back(a.front());  // an element of its own, which growth moves
  expected.push_back(expected.front());
  a.erase(&a[3]);
  expected.erase(expected.begin() + 3);
  a.resize(120);
  expected.resize(120);
  CHECK(as_vector(a) == expected);
  CHECK(a.contains("xx"));
  CHECK(!a.contains("y"));
  CHECK(a.find("xx") == a.data() + 2);
  CHECK(a.find("y") == a.end());
  a.assign(3, "z");
  CHECK(as_vector(a) == std::vector<std::string>{"z", "z", "z"});
  CHECK(as_vector(dynamic_array<std::string>(expected)) == expected);
  CHECK(as_vector({"a", "b"}) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("every element is destroyed once") {
  {
    dynamic_array<counted> a(5);
    dynamic_array<counted> b = a;
    dynamic_array<counted> c = std::move(a);
    CHECK(a.empty());
    CHECK(alive == 10);
    b = c;
    c = std::move(b);
    CHECK(b.empty());
    dynamic_array<counted>& same = c;
    c = same;
    CHECK(c.size() == 5);
    c.erase(&c[0]);
    c.pop_back();
    CHECK(alive == 3);
    c.push_back(counted(13));
    CHECK_THROWS_AS(b = c, std::runtime_error);
    CHECK(b.empty());
    c.clear();
    CHECK(alive == 0);
    CHECK(c.capacity() >= 4);
    c.resize(2);
    c.shrink_to_fit();
    CHECK(c.capacity() == 2);
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
}

TEST_CASE("a value lives as long as one of its owners") {
  shared_value<counted> none;
  CHECK(!none);
  {
    auto one = shared_value<counted>::make(7);
    shared_value<counted> other = one;
    CHECK(other->number == 7);
    CHECK(&*other == &*one);
    one = std::move(other);
    one = none;
    CHECK(alive == 0);
    one = shared_value<counted>::make(8);
    none = one;
    shared_value<counted>& same = none;
    none = same;
  }
  CHECK(alive == 1);
  CHECK((*none).number == 8);
  none = {};
  CHECK(alive == 0);
}
