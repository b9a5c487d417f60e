// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1

/// @file
/// Objects of a host thread are made once for it and end with it, the last made first, also if making one object asks
/// for another.

#include <doctest/doctest.h>

#include <string>
#include <thread>

#include <ostraka/engine/memory/per_thread.hpp>

namespace {

std::string endings;

struct inner {
  ~inner() { endings += "inner ends;"; }
};

inner& of_this_thread() {
  static thread_local constinit inner* place = nullptr;
  return ostraka::engine::per_thread(place);
}

struct outer {
  outer() { of_this_thread(); }
  ~outer() { endings += "outer ends;"; }
};

outer& one_of_this_thread() {
  static thread_local constinit outer* place = nullptr;
  return ostraka::engine::per_thread(place);
}

}  // namespace

TEST_CASE("an object whose making asks for another ends before it") {
  endings.clear();
  outer const* first = nullptr;
  outer const* again = nullptr;
  std::thread([&] {
    first = &one_of_this_thread();
    again = &one_of_this_thread();
  }).join();
  CHECK(first == again);
  CHECK(endings == "outer ends;inner ends;");
}
