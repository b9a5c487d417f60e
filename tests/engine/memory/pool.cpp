// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// The pool: blocks come back and are used again, two at a time are not the same, what is held is counted, and a run
/// that is repeated has its places.
// ranks: 1
// labels: essential
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace {

using namespace ostraka::engine;
using room = scratch<double, Kokkos::HostSpace>;

workspace<Kokkos::HostSpace>& pool() { return workspace<Kokkos::HostSpace>::instance(); }

}  // namespace

TEST_CASE("a block that came back is used again, for anything that fits") {
  pool().release();
  std::size_t const before = pool().held_bytes();
  double* first = nullptr;
  {
    room const r(100);
    first = r.data();
    first[99] = 1;
    CHECK(pool().held_bytes() == before + 800);
  }
  {
    room const r(60);
    CHECK(r.data() == first);
    room const other(60);
    CHECK(other.data() != first);
    CHECK(pool().held_bytes() == before + 800 + 480);
  }
  pool().release();
  CHECK(pool().held_bytes() == before);
}

TEST_CASE("a block that is too small makes place for one that is not") {
  pool().release();
  std::size_t const before = pool().held_bytes();
  { room const r(10); }
  { room const r(1000); }
  CHECK(pool().held_bytes() == before + 8000);
  CHECK(pool().peak_bytes() >= before + 8000);
  pool().release();
}

#ifndef __SANITIZE_ADDRESS__  // whose malloc ends the program instead
TEST_CASE("memory that there is not is not counted, and what lies idle makes place before") {
  pool().release();
  std::size_t const before = pool().held_bytes(), most = pool().most_used();
  { room const r(1000); }
  CHECK_THROWS(room(std::int64_t(1) << 57));
  CHECK(pool().held_bytes() == before);
  CHECK(pool().most_used() == std::max(most, before + 8000));
  CHECK(pool().most_used_by_plans() <= std::max(most, before + 8000));
  { room const r(1000); }
  CHECK(pool().held_bytes() == before + 8000);
  pool().release();
}
#endif

TEST_CASE("what is left of a block is used, and neighbours become one again") {
  pool().release();
  std::size_t const before = pool().held_bytes();
  { room const whole(128); }
  for (int round = 0; round < 3; ++round) {
    room a(30);  // 240 bytes, and 16 to the next aligned place
    room b(40);
    room c(56);
    CHECK(b.data() == a.data() + 32);
    CHECK(c.data() == b.data() + 40);
    for (double* place : {b.data(), c.data()}) CHECK(reinterpret_cast<std::uintptr_t>(place) % 64 == 0);
    (round == 0 ? a : round == 1 ? b : c) = room();
    b = room();
    a = room();
    c = room();
    room const whole(128);
    CHECK(pool().held_bytes() == before + 1024);
  }
  pool().release();
  CHECK(pool().held_bytes() == before);
}

TEST_CASE("no more is held than was in use at once, where blocks take turns") {
  pool().release();
  std::size_t const before = pool().held_bytes();
  { room const a(10), b(10), c(10); }
  { room const d(100); }
  CHECK(pool().held_bytes() == before + 800);
  { room const a(10), b(10), c(10); }
  CHECK(pool().held_bytes() == before + 800);
  pool().release();
}

TEST_CASE("no more is held than was in use at once, where a block takes the place of a longer one, also not later") {
  pool().release();
  std::size_t const before = pool().held_bytes();
  for (int round = 0; round < 4; ++round) {
    room gathered(450);
    room const made(800);
    gathered = room();
    room const even(400), odd(400);
    CHECK(pool().held_bytes() == before + 12800);
  }
  pool().release();
}

TEST_CASE("under a limit no more is held than is in use") {
  pool().release();
  std::size_t const before = pool().held_bytes();
  {
    workspace_limit<Kokkos::HostSpace> const limit(static_cast<std::int64_t>(before) + 1200);
    for (int round = 0; round < 3; ++round) {
      { room const a(100); }
      { room const b(90), c(60); }
      CHECK(pool().held_bytes() == before + 1200);
    }
  }
  pool().release();
}

TEST_CASE("a run that is repeated holds what is in use at once, in any order of runs") {
  pool().release();
  std::size_t const before = pool().held_bytes();
  auto const exchange_and_reduce = [](placement& places, std::int64_t n) {
    placed_run<Kokkos::HostSpace> const run(&places);
    room gathered(450 * n);
    room const made(800 * n);
    gathered = room();
    room const even(400 * n), odd(400 * n);
    even.data()[0] = 1;
    odd.data()[0] = 2;
    made.data()[800 * n - 1] = 3;
    CHECK(even.data()[0] == 1);
  };
  placement small, large, odd;
  for (int round = 0; round < 3; ++round) {
    exchange_and_reduce(small, 1);
    if (round == 0) CHECK(pool().held_bytes() == before + 12800);
    exchange_and_reduce(large, 3);
    CHECK(pool().held_bytes() == before + 3 * 12800);
    exchange_and_reduce(odd, 2);
    CHECK(pool().held_bytes() <= before + 3 * 12800);
  }
  CHECK(small.bytes() == 12800);
  CHECK(pool().most_used_by_plans() == 3 * 12800);
  CHECK(pool().most_used_by_kernels() == 0);
  pool().release();
  CHECK(pool().held_bytes() == before);
}

TEST_CASE("a run that goes another way than the first takes nobody's place, and is found out anew") {
  pool().release();
  placement places;
  auto const once = [&](bool other_way) {
    placed_run<Kokkos::HostSpace> const run(&places);
    room a(100);
    room const b(50);
    if (!other_way) a = room();
    room const c(100);
    bool const apart = other_way ? c.data() + 100 <= a.data() || a.data() + 100 <= c.data() : true;
    CHECK(apart);
    bool const apart_from_b = c.data() + 100 <= b.data() || b.data() + 50 <= c.data();
    CHECK(apart_from_b);
  };
  once(false);
  once(false);
  CHECK(places.bytes() == 1200);
  once(true);
  CHECK_FALSE(places.cached());
  once(true);
  CHECK(places.bytes() == 2000);
  once(true);
  CHECK(places.cached());
  pool().release();
}

TEST_CASE("a run that ends by an exception says nothing about others") {
  pool().release();
  placement places;
  auto const once = [&](int fails_after) {
    placed_run<Kokkos::HostSpace> const run(&places);
    if (fails_after == 0) throw 0;
    room a(100);
    if (fails_after == 1) throw 1;
    room const b(50);
    a = room();
    room const c(100);
  };
  for (int fails_after : {0, 1}) {
    CHECK_THROWS_AS(once(fails_after), int);
    CHECK_FALSE(places.cached());
    once(2);
    CHECK(places.bytes() == 1200);
    once(2);
    CHECK_THROWS_AS(once(fails_after), int);
    CHECK_FALSE(places.cached());
    once(2);
    CHECK(places.bytes() == 1200);
    CHECK(pool().most_used() <= 2000);
    places.forget();
  }
  pool().release();
}

TEST_CASE("pieces that are there at the same time lie apart, and take little more than they are") {
  std::uint64_t state = 7;
  auto const random = [&](std::uint64_t n) {
    return state = state * 6364136223846793005u + 1442695040888963407u, (state >> 33) % n;
  };
  int tight = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<std::pair<std::size_t, bool>> events;  // which piece; is it taken?
    std::vector<std::size_t> bytes, there;
    while (bytes.size() < 12 || !there.empty()) {
      if (bytes.size() < 12 && (there.size() < 2 || (there.size() < 5 && random(2) == 0))) {
        there.push_back(bytes.size());
        events.push_back({bytes.size(), true});
        bytes.push_back(8 * (1 + random(200)));
      } else {
        std::size_t const i = random(there.size());
        events.push_back({there[i], false});
        there.erase(there.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    placement places;
    std::vector<char> memory(12);  // an address for each piece
    places.begin();
    std::size_t now = 0, most = 0;
    for (auto const& [piece, taken] : events) {
      now = taken ? now + bytes[piece] : now - bytes[piece];
      most = std::max(most, now);
      taken ? places.took(bytes[piece], &memory[piece]) : places.gave_back(&memory[piece]);
    }
    places.end(true);
    places.begin();
    std::vector<std::size_t> at(12), live;
    for (auto const& [piece, taken] : events) {
      if (!taken) {
        places.give_back(at[piece]);
        live.erase(std::find(live.begin(), live.end(), piece));
        continue;
      }
      at[piece] = places.take(bytes[piece]);
      REQUIRE(at[piece] + bytes[piece] <= places.bytes());
      CHECK(at[piece] % 8 == 0);
      for (std::size_t const other : live)
        REQUIRE((at[piece] + bytes[piece] <= at[other] || at[other] + bytes[other] <= at[piece]));
      live.push_back(piece);
    }
    places.end(true);
    CHECK(places.cached());
    CHECK(places.bytes() >= most);
    CHECK(2 * places.bytes() <= 3 * most);
    tight += places.bytes() == most ? 1 : 0;
  }
  MESSAGE(tight, " of 400 runs take what is there at once");
  CHECK(tight > 200);
}

TEST_CASE("scratch moves, and none is taken for no elements") {
  pool().release();
  std::size_t const before = pool().held_bytes();
  room empty;
  room zero(0);
  CHECK(empty.data() == nullptr);
  CHECK(zero.data() == nullptr);
  CHECK(pool().held_bytes() == before);
  room full(5);
  double* const data = full.data();
  room moved(std::move(full));
  CHECK(moved.data() == data);
  empty = std::move(moved);
  CHECK(empty.data() == data);
}

TEST_CASE("a contraction that packs allocates the first time only") {
  pool().release();
  contraction p;
  p.labels = 3;
  std::int64_t const extents[3] = {64, 64, 64}, a[3] = {128, 2, 0}, b[3] = {0, 64, 1}, c[3] = {64, 0, 1};
  for (int l = 0; l < 3; ++l) {
    p.extent[l] = extents[l];
    p.a[l] = a[l];
    p.b[l] = b[l];
    p.c[l] = c[l];
    p.in_a[l] = l != 2;
    p.in_b[l] = l != 0;
    p.in_c[l] = l != 1;
  }
  std::vector<double> x(64 * 128, 1.0), y(64 * 64, 1.0), z(64 * 64);
  contract(Kokkos::DefaultHostExecutionSpace(), p, x.data(), y.data(), z.data());
  std::size_t const held = pool().held_bytes();
  contract(Kokkos::DefaultHostExecutionSpace(), p, x.data(), y.data(), z.data());
  CHECK(pool().held_bytes() == held);
#if OSTRAKA_ENABLE_CBLAS
  CHECK(held >= 64 * 64 * sizeof(double));
#endif
  CHECK(z == std::vector<double>(64 * 64, 64.0));
  pool().release();
}
