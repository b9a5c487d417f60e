// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The blocks that a device keeps for later results: none has two owners, the next owner waits where it must, and they
/// go back to the system where memory is short, on request, while memory is counted, and before Kokkos ends.

#include <doctest/doctest.h>

#include <ostraka/foresight.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "support/mpi_main.hpp"
#include "support/no_call_check.hpp"
#include "support/sham/device.hpp"
#include "support/sham/keeps_blocks.hpp"

namespace os = ostraka;
namespace t = os::testing;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

namespace {

using view = os::detail::unnamed_tensor<std::int64_t, 1, Kokkos::Sham::device_type>::view_type;
using blocks = os::engine::kept_blocks<Kokkos::ShamSpace>;

view make(std::int64_t elements) { return os::detail::make_view<view>(&elements, std::index_sequence<0>{}); }

struct write_pattern {
  std::int64_t* to;
  std::int64_t pattern;
  void operator()(std::int64_t i) const { to[i] = pattern + i; }
};

struct read_other {
  std::int64_t* to;
  std::int64_t const* from;
  void operator()(std::int64_t i) const { to[i] = from[i]; }
};

template <class F>
void launch(std::size_t n, F const& f) {
  Kokkos::parallel_for("a kernel", Kokkos::RangePolicy<Kokkos::Sham, Kokkos::IndexType<std::int64_t>>(0, n), f);
}

template <class View>
auto on_host(View const& v) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
}

bool holds(view const& v, std::int64_t pattern) {
  auto const seen = on_host(v);
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen.data()[i] != pattern + static_cast<std::int64_t>(i)) return false;
  return true;
}

template <class F>
sham::work work_of(F const& f) {
  sham::work const before = sham::work_done();
  f();
  return sham::work_done() - before;
}

}  // namespace

// The first hook runs last. It cannot fail a test case, since all of them have ended.
TEST_CASE("no block is left when Kokkos ends") {
  Kokkos::push_finalize_hook([] {
    if (blocks::held_bytes() == 0 && sham::bytes_in_use("ostraka tensor") == 0) return;
    std::fputs("blocks are left when Kokkos ends\n", stderr);
    std::_Exit(98);
  });
  static_cast<void>(make(1000));
  CHECK(blocks::held_bytes() >= 8000);
}

TEST_CASE("a block is used again, its views count, and Kokkos knows its label") {
  blocks::release();
  std::int64_t* before = nullptr;
  for (int i = 0; i < 3; ++i) {
    sham::work const work = work_of([&] {
      view const a = make(1000);
      CHECK((before == nullptr || a.data() == before));
      before = a.data();
      CHECK(a.label() == "ostraka tensor");
      CHECK(a.use_count() == 1);
      CHECK(os::engine::holders_of(a) == 1);
      view const copy = a;
      CHECK(os::engine::holders_of(copy) == 2);
      view const other = make(1000);
      CHECK(other.data() != before);
      before = other.data();  // the first to end, and the second to be freed is the first to be used
      before = a.data();
    });
    CHECK(work.allocations == (i == 0 ? 2 : 0));
    CHECK(work.fences == 0);
  }
  CHECK(make(0).size() == 0);
  CHECK(blocks::held_bytes() == 2 * 8192);  // 8000 bytes and what fills 512
}

TEST_CASE("a block that is more than a quarter too long is left for others") {
  blocks::release();
  static_cast<void>(make(1280));
  CHECK(work_of([] { static_cast<void>(make(1024)); }).allocations == 0);
  CHECK(work_of([] { static_cast<void>(make(960)); }).allocations == 1);
  CHECK(work_of([] { static_cast<void>(make(1280)); }).allocations == 0);  // the shorter one has not taken its place
  CHECK(work_of([] { static_cast<void>(make(1281)); }).allocations == 1);
}

// Kernels are still in the queue when the blocks that they read and write get other owners.
TEST_CASE("random owners: each finds what it wrote") {
  std::mt19937 draw(7u + static_cast<unsigned>(t::rank()));
  struct owner {
    view block;
    std::int64_t pattern;
  };
  std::vector<owner> owners;
  long allocations = 0;
  for (std::int64_t round = 0; round < 3000; ++round) {
    if (owners.size() > 12 || (!owners.empty() && draw() % 2 == 0)) {
      std::size_t const at = draw() % owners.size();
      if (draw() % 8 == 0) {
        REQUIRE(holds(owners[at].block, owners[at].pattern));
      } else if (draw() % 3 == 0) {  // a copy, after whose launch the original ends
        view const copy = make(static_cast<std::int64_t>(owners[at].block.size()));
        launch(copy.size(), read_other{copy.data(), owners[at].block.data()});
        owners[at].block = copy;
      }
      if (draw() % 2 == 0) {
        std::swap(owners[at], owners.back());
        owners.pop_back();
      }
      continue;
    }
    std::int64_t const elements = 1 + static_cast<std::int64_t>(draw() % (draw() % 2 == 0 ? 40 : 1500));
    allocations += work_of([&] { owners.push_back({make(elements), round * 10000}); }).allocations;
    launch(owners.back().block.size(), write_pattern{owners.back().block.data(), owners.back().pattern});
    for (owner const& o : owners) {
      if (o.pattern == owners.back().pattern) continue;
      bool const apart = o.block.data() + o.block.size() <= owners.back().block.data() ||
                         owners.back().block.data() + owners.back().block.size() <= o.block.data();
      REQUIRE(apart);
    }
  }
  for (owner const& o : owners) CHECK(holds(o.block, o.pattern));
  CHECK(allocations < 300);  // of some 1500
}

TEST_CASE("a block of another host thread's: the device is waited for") {
  blocks::release();
  std::optional<view> ours(make(1000));
  launch(1000, write_pattern{ours->data(), 5});
  std::int64_t const* const first = ours->data();
  std::thread other([&] {  // ends a block that kernels of this thread use
    ours.reset();
    view again;
    sham::work const work = work_of([&] { again = make(1000); });
    CHECK(again.data() == first);
    CHECK(work.allocations == 0);
    CHECK(work.fences == 1);
    launch(1000, write_pattern{again.data(), 9});
    CHECK(holds(again, 9));
    again = view();
    sham::work const own = work_of([&] { CHECK(make(1000).data() == first); });
    CHECK(own.fences == 0);
  });
  other.join();
  view mine;
  CHECK(work_of([&] { mine = make(1000); }).fences == 1);  // the thread that used it has ended
  CHECK(mine.data() == first);
}

TEST_CASE("host threads at the same time") {
  blocks::release();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([n, &wrong] {
      std::mt19937 draw(static_cast<unsigned>(n));
      std::vector<std::pair<view, std::int64_t>> mine;
      for (std::int64_t round = 0; round < 300; ++round) {
        view const made = make(1 + static_cast<std::int64_t>(draw() % 300));
        mine.emplace_back(made, n * 1000000 + round * 1000);
        launch(made.size(), write_pattern{made.data(), mine.back().second});
        if (mine.size() > 5) {
          if (!holds(mine.front().first, mine.front().second)) ++wrong[static_cast<std::size_t>(n)];
          mine.erase(mine.begin());
        }
      }
    });
  for (std::thread& one : threads) one.join();
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("another instance gets a block behind a fence") {
  Kokkos::fence();
  blocks::release();
  Kokkos::Sham const other;
  { os::with_instance const scope(other); }  // what was under way has ended
  std::int64_t const* first = nullptr;
  sham::work const work = work_of([&] {
    {
      view const ours = make(1000);
      first = ours.data();
      launch(1000, write_pattern{ours.data(), 5});  // a kernel of the program, which no operation of ours waits for
    }
    os::with_instance const scope(other);
    CHECK(make(1000).data() == first);
  });
  CHECK(work.fences == 2);  // where the scope begins, and where it ends, since the block may be in use there
  CHECK(work_of([&] { CHECK(make(1000).data() == first); }).fences == 0);
}

TEST_CASE("where memory is short, blocks that are kept go back, and the same request succeeds") {
  blocks::release();
  view const lives = make(1000);
  launch(1000, write_pattern{lives.data(), 3});
  for (int i = 0; i < 6; ++i) static_cast<void>(make(100000 << i));
  CHECK(blocks::held_bytes() > std::size_t{48} << 20);
  sham::limit_memory(std::size_t{64} << 20);
  view const wanted = make(6 << 20);  // 48 MiB
  launch(wanted.size(), write_pattern{wanted.data(), 4});
  CHECK(blocks::held_bytes() == 0);
  CHECK_THROWS_AS(static_cast<void>(make(6 << 20)), std::exception);
  CHECK(holds(wanted, 4));
  static_cast<void>(make(100000));
  os::engine::scratch<char, Kokkos::ShamSpace> workspace(15 << 20);  // as short as for a tensor
  CHECK(workspace.data() != nullptr);
  sham::limit_memory(std::size_t{1} << 40);
  CHECK(holds(lives, 3));
}

TEST_CASE("a program that counts memory counts what its tensors have") {
  static_cast<void>(make(1000));
  os::memory_counter const counter;
  CHECK(blocks::held_bytes() == 0);
  {
    view const a = make(1000);
    CHECK(counter.in_use() == 8000);
  }
  CHECK(counter.in_use() == 0);
  CHECK(counter.peak() == 8000);
  CHECK(blocks::held_bytes() == 0);
}

TEST_CASE("workspace and blocks that nothing uses are released together") {
  static_cast<void>(make(1000));
  os::memory_counter::release_workspace();
  CHECK(blocks::held_bytes() == 0);
}

TEST_CASE("an operand that ends while its messages are in flight") {
  auto const mesh = os::make_mesh(X = t::ranks());
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto begun = os::start_reshard<I, J>(os::full<double, I / X, J>(mesh, I = 64, J = 640, 3.0));
    for (int i = 0; i < 4; ++i) static_cast<void>(os::full<double, I / X, J>(mesh, I = 64, J = 640, 7.0));
    auto const whole = os::full<double, I, J>(mesh, I = 64, J = 640, 9.0);
    auto const gathered = std::move(begun).wait();
    auto const seen = on_host(gathered.local());
    bool all = true;
    for (std::size_t i = 0; i < seen.size(); ++i) all = all && seen.data()[i] == 3.0;
    CHECK(all);
  }
}

// x <- x - 0.1 dL/dx with L = sum x²: after n steps x = 0.8ⁿ.
TEST_CASE("a training step allocates nothing from the second one on, and its numbers are right") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto x = os::full<double, I / X, J>(mesh, I = 64, J = 64, 1.0);
  auto const gradient = os::value_and_grad([](auto const& p) { return os::sum<>(os::multiply(p, p)); });
  double expected = 1;
  for (int step = 0; step < 5; ++step) {
    double loss = 0;
    sham::work const work = work_of([&] {
      auto const [value, g] = gradient(x);
      loss = os::value(value);
      x = os::add(x, os::scale(-0.1, g));
    });
    CHECK(loss == doctest::Approx(64 * 64 * expected * expected).epsilon(1e-12));
    expected *= 0.8;
    if (step > 0) CHECK(work.allocations == 0);
  }
  auto const seen = on_host(x.local());
  for (std::size_t i = 0; i < seen.size(); ++i) REQUIRE(seen.data()[i] == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("nothing was reported") { CHECK(sham::take_reports().empty()); }
