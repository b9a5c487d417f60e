// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Short blocks of the host, kept for later results: none has two owners, a view keeps its block, few are kept, none
/// while memory is counted, and each host thread keeps its own.
// ranks: 1
// labels: essential

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/kept_blocks.hpp>
#include <ostraka/engine/memory/memory_counter.hpp>
#include <ostraka/tensors/allocate.hpp>

namespace engine = ostraka::engine;

namespace {

using space = Kokkos::HostSpace;
using blocks = engine::kept_blocks<space>;
using view =
    ostraka::detail::unnamed_tensor<std::uint8_t, 1, Kokkos::DefaultHostExecutionSpace::device_type>::view_type;

view make(std::int64_t bytes) { return ostraka::detail::make_view<view>(&bytes, std::index_sequence<0>{}); }

void fill(view const& v, std::uint8_t with) { std::fill_n(v.data(), v.size(), with); }
bool holds(view const& v, std::uint8_t what) {
  return std::all_of(v.data(), v.data() + v.size(), [=](std::uint8_t b) { return b == what; });
}

// True if blocks are kept in this build, and by this run's settings.
bool keeps() { return engine::detail::keeps_short_blocks(); }

}  // namespace

TEST_CASE("the next result gets the block that was freed last") {
  void const* first = nullptr;
  {
    view const v = make(800);
    first = v.data();
    CHECK(v.size() == 800);
    CHECK(v.label() == std::string_view(engine::label_of_blocks));
    CHECK(v.use_count() == 1);
    CHECK(reinterpret_cast<std::uintptr_t>(v.data()) % 64 == 0);
  }
  view const same = make(1000), other = make(1000);
  CHECK((same.data() == first) == keeps());
  CHECK(other.data() != same.data());
}

TEST_CASE("no block has two owners, whatever is made and freed") {
  struct owned {
    view block;
    std::uint8_t pattern;
  };
  std::vector<owned> all;
  std::uint32_t random = 1;
  auto const next = [&] { return random = random * 1664525u + 1013904223u, random >> 8; };
  for (int i = 0; i < 4000; ++i) {
    if (all.size() < 60 && next() % 2 == 0) {
      auto const pattern = static_cast<std::uint8_t>(next());
      all.push_back({make(1 + next() % 5000), pattern});
      fill(all.back().block, pattern);
    } else if (!all.empty()) {
      std::size_t const at = next() % all.size();
      CHECK(holds(all[at].block, all[at].pattern));
      std::swap(all[at], all.back());
      all.pop_back();
    }
  }
  for (owned const& o : all) CHECK(holds(o.block, o.pattern));
}

TEST_CASE("each length holds what is asked for, and long blocks are not kept") {
  blocks::release();
  for (std::int64_t bytes : {1, 63, 64, 65, 128, 129, 2048, 2049, 4095, 4096}) {
    std::size_t const before = blocks::held_bytes();
    { fill(make(bytes), 1); }
    std::size_t const kept = blocks::held_bytes() - before;
    CHECK((kept > 0) == keeps());
    if (keeps()) CHECK(kept >= static_cast<std::size_t>(bytes));
    blocks::release();
    CHECK(blocks::held_bytes() == 0);
  }
  { fill(make(4097), 1); }
  { fill(make(0), 1); }
  CHECK(blocks::held_bytes() == 0);
}

TEST_CASE("a copy of the view keeps the block") {
  blocks::release();
  view copy = make(100);
  {
    view const v = copy;
    CHECK(v.use_count() == 2);
  }
  CHECK(blocks::held_bytes() == 0);
  fill(copy, 7);
  view const other = make(100);
  fill(other, 8);
  CHECK(holds(copy, 7));
  copy = {};
  CHECK(blocks::held_bytes() == (keeps() ? 128u : 0u));
}

TEST_CASE("at most 16 of a length are kept") {
  blocks::release();
  std::vector<view> many;
  for (int i = 0; i < 40; ++i) many.push_back(make(64));
  std::set<void const*> places;
  for (view const& v : many) places.insert(v.data());
  CHECK(places.size() == 40);
  many.clear();
  CHECK(blocks::held_bytes() == (keeps() ? 16u * 64u : 0u));
  blocks::release();
}

TEST_CASE("none is kept while memory is counted, and none from before is taken") {
  blocks::release();
  { make(512); }
  engine::memory_counter const counter;
  CHECK(blocks::held_bytes() == 0);
  {
    view const v = make(512);
    CHECK(counter.in_use() >= 512);
  }
  CHECK(counter.in_use() == 0);
  CHECK(blocks::held_bytes() == 0);
}

TEST_CASE("a tool that listens to Kokkos hears of each block") {
  static int heard;
  heard = 0;
  { make(512); }
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_allocate_data_callback([](auto, char const*, void const*, std::uint64_t bytes) { heard += bytes >= 512; });
  { make(512); }
  make(512);
  tools::set_allocate_data_callback(nullptr);
  CHECK(heard == 2);
}

TEST_CASE("a program that is only priced gets zeros") {
  { fill(make(256), 9); }
  engine::only_priced_scope const priced(true);
  CHECK(holds(make(256), 0));
}

TEST_CASE("host threads keep their own blocks, and free those of others") {
  blocks::release();
  view handed = make(300);
  std::size_t kept_there = 1;
  std::thread([&] {
    handed = {};  // the thread has taken no block
    kept_there = blocks::held_bytes();
  }).join();
  CHECK(kept_there == 0);
  CHECK(blocks::held_bytes() == 0);

  view of_thread;
  std::thread([&] {
    of_thread = make(300);
    fill(of_thread, 3);
    view const ended = make(300);
    static_cast<void>(ended);
  }).join();
  CHECK(holds(of_thread, 3));
  of_thread = {};
  make(300);
  CHECK((blocks::held_bytes() > 0) == keeps());
  blocks::release();
}
