// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// The pool: blocks come back and are used again, two at a time are distinct, held bytes are counted, and a repeated
/// run gets its places again.
// ranks: 1
// labels: essential
// sham:
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/memory/memory_counter.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/memory/slab_memory.hpp>

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

#ifndef __SANITIZE_ADDRESS__  // its malloc ends the program instead
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

TEST_CASE("long slabs begin with a large page, count what was asked for, and are not taken for one") {
  pool().release();
  std::size_t const before = pool().held_bytes();
  std::vector<std::size_t> const all_bytes = {large_page / 2 - 8, large_page / 2, large_page, large_page + 8,
                                              2 * large_page};
  {
    std::vector<room> all;
    std::size_t held = before;
    for (int again = 0; again < 2; ++again)
      for (std::size_t const bytes : all_bytes) {
        all.emplace_back(static_cast<std::int64_t>(bytes / 8));
        held += bytes;
        CHECK(pool().held_bytes() == held);
        double* const at = all.back().data();
        at[0] = at[bytes / 8 - 1] = 1;
#if defined(MADV_HUGEPAGE)
        if (bytes >= large_page / 2) CHECK(reinterpret_cast<std::uintptr_t>(at) % large_page == 0);
#endif
      }
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < all.size(); ++k)
        CHECK(all[i].data() + all_bytes[i % all_bytes.size()] / 8 != all[k].data());
  }
  pool().release();
  CHECK(pool().held_bytes() == before);
}

TEST_CASE("whoever listens to Kokkos hears of long slabs, their size and their end") {
  pool().release();
  memory_counter const counted;
  std::int64_t const bytes = static_cast<std::int64_t>(large_page) + 800;
  bool const is_counted = std::is_same_v<Kokkos::DefaultExecutionSpace::memory_space, Kokkos::HostSpace>;
  { room const r(bytes / 8); }
  if (is_counted) CHECK(counted.in_use() == bytes);
  pool().release();
  CHECK(counted.in_use() == 0);
  if (is_counted) CHECK(counted.peak() == bytes);
}

#if defined(__linux__)
TEST_CASE("addresses without memory touch nothing, so that two are not taken for one") {
  std::size_t const bytes = std::size_t{1} << 20;
  std::vector<char*> at;
  for (int i = 0; i < 6; ++i) at.push_back(reserve_addresses<Kokkos::HostSpace>("test", bytes));
  for (char* const one : at) {
    REQUIRE(one != nullptr);
    one[0] = one[bytes - 1] = 1;
    for (char* const other : at) CHECK(one + bytes != other);
  }
  for (char* const one : at) free_addresses<Kokkos::HostSpace>("test", one, bytes);
}
#endif

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
