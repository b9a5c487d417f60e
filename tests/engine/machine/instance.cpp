// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The source of instances of an execution space: the application within a scope, also in nested scopes, on the host
/// thread that opened them and until they end, however they end. An instance without a holder is released.
// sham:

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <thread>

#include <ostraka/engine/machine/instance.hpp>

namespace engine = ostraka::engine;

namespace {

// A stream, counted by its handles, as Kokkos' instances are.
struct stream {
  std::shared_ptr<int> number = std::make_shared<int>(0);

  void fence() const { fenced = *number; }

  static inline thread_local int fenced = -1;  // the last one that was waited for
};

int number() { return *engine::instance<stream>().number; }

}  // namespace

TEST_CASE("instances come from the innermost scope of the thread") {
  stream const one{std::make_shared<int>(1)}, two{std::make_shared<int>(2)};
  CHECK(number() == 0);
  {
    engine::instance_scope<stream> const outer(one);
    CHECK(number() == 1);
    {
      engine::instance_scope<stream> const inner(two);
      CHECK(number() == 2);
      int elsewhere = -1;
      std::thread([&] { elsewhere = number(); }).join();
      CHECK(elsewhere == 0);
    }
    CHECK(number() == 1);
    try {
      engine::instance_scope<stream> const inner(two);
      throw std::runtime_error("an operation failed");
    } catch (std::runtime_error const&) {
    }
    CHECK(number() == 1);
  }
  CHECK(number() == 0);
  CHECK(one.number.use_count() == 1);
  CHECK(two.number.use_count() == 1);
}

TEST_CASE("a scope keeps an instance that has no other name") {
  engine::instance_scope<stream> const scope(stream{std::make_shared<int>(3)});
  CHECK(number() == 3);
}

TEST_CASE("a scope that begins or ends waits for results that nothing has waited for, on the instance before") {
  stream const one{std::make_shared<int>(1)};
  bool& unfenced = engine::instance_of_thread<stream>().unfenced;
  unfenced = true;
  {
    engine::instance_scope<stream> const scope(one);
    CHECK(stream::fenced == 0);
    CHECK(!unfenced);
    unfenced = true;
  }
  CHECK(stream::fenced == 1);
  CHECK(!unfenced);
  stream::fenced = -1;
  { engine::instance_scope<stream> const scope(one); }
  CHECK(stream::fenced == -1);
}
