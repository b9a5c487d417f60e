// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Counters of memory beside tools that listen to Kokkos: earlier tools hear everything and remain afterwards, tools
/// that begin meanwhile stay, also if they forward to the ones before them.
// ranks: 1
// sham:

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/memory_counter.hpp>
#include <ostraka/engine/memory/pool.hpp>

using ostraka::engine::memory_counter;

namespace {

using allocated = Kokkos_Profiling_allocateDataFunction;
using freed = Kokkos_Profiling_deallocateDataFunction;

// A tool that counts blocks, and may forward to the earlier listener.
struct tool {
  int allocations = 0, frees = 0;
  allocated before = nullptr;
  freed freed_before = nullptr;
};
tool first, second;

template <tool& Tool>
void on_allocation(Kokkos_Profiling_SpaceHandle space, char const* label, void const* at, std::uint64_t bytes) {
  ++Tool.allocations;
  if (Tool.before != nullptr) Tool.before(space, label, at, bytes);
}
template <tool& Tool>
void on_free(Kokkos_Profiling_SpaceHandle space, char const* label, void const* at, std::uint64_t bytes) {
  ++Tool.frees;
  if (Tool.freed_before != nullptr) Tool.freed_before(space, label, at, bytes);
}

namespace tools = Kokkos::Tools::Experimental;

template <tool& Tool>
void listen(bool tells) {
  Tool = {};
  if (tells) {
    Tool.before = tools::get_callbacks().allocate_data;
    Tool.freed_before = tools::get_callbacks().deallocate_data;
  }
  tools::set_allocate_data_callback(&on_allocation<Tool>);
  tools::set_deallocate_data_callback(&on_free<Tool>);
}
template <tool& Tool>
bool listens() {
  return tools::get_callbacks().allocate_data == &on_allocation<Tool> &&
         tools::get_callbacks().deallocate_data == &on_free<Tool>;
}

void end_of_tools() {
  tools::set_allocate_data_callback(nullptr);
  tools::set_deallocate_data_callback(nullptr);
}

void allocate() { Kokkos::View<double*> const block("block", 1000); }

}  // namespace

TEST_CASE("a tool from before hears everything, and is there afterwards") {
  listen<first>(false);
  {
    memory_counter const outer;
    allocate();
    {
      memory_counter const inner;
      allocate();
      CHECK(inner.peak() >= 8000);
    }
    CHECK(outer.peak() >= 8000);
    CHECK(outer.in_use() == 0);
  }
  CHECK(listens<first>());
  CHECK(first.allocations == 2);
  CHECK(first.frees == 2);
  end_of_tools();
}

TEST_CASE("a tool that begins to listen meanwhile stays") {
  for (bool const tells : {false, true}) {
    listen<first>(false);
    {
      memory_counter const counter;
      listen<second>(tells);
      allocate();
      CHECK((counter.peak() >= 8000) == tells);
      {
        memory_counter const again;  // which forwards to the tool
        allocate();
        CHECK(again.peak() >= 8000);
        CHECK(counter.peak() >= 8000);
        CHECK(counter.peak() < 16000);
      }
    }
    CHECK(listens<second>());
    CHECK(second.allocations == 2);
    CHECK(second.frees == 2);
    allocate();
    CHECK(second.allocations == 3);
    end_of_tools();
  }
}

// More memory than machines that run tests have; under vm.overcommit_memory = 2 none of it can be had.
TEST_CASE("workspace that is only priced may be larger than the machine's memory") {
  constexpr std::int64_t bytes = std::int64_t{400} << 30;
  using Host = Kokkos::HostSpace;
  using pool = ostraka::engine::workspace<Host>;
  bool const is_counted = std::is_same_v<Kokkos::DefaultExecutionSpace::memory_space, Host>;
  memory_counter const counted;
  {
    ostraka::engine::only_priced_scope const priced(true);
    for (int again = 0; again < 2; ++again) {
      ostraka::engine::scratch<char, Host> const one(bytes);
      ostraka::engine::scratch<char, Host> const other(bytes + 64);
      CHECK(one.data() != nullptr);
      one.data()[0] = one.data()[bytes - 1] = other.data()[bytes + 63] = 1;  // touches only a few pages of it
    }
  }
  if (is_counted) CHECK(counted.peak() == 2 * bytes + 64);
  pool::instance().release();
  CHECK(pool::instance().held_bytes() == 0);
  CHECK(counted.in_use() == 0);
}
