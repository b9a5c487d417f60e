// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A released mesh leaves nothing behind: no communicator, no record, no memory; so the thousandth is made as fast as
/// the tenth.
// ranks: 1 2 4
// sham:
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <ostraka/engine/spmd/peer_monitor.hpp>
#include <ostraka/ostraka.hpp>

#include "support/axes.hpp"
#include "support/byte_counter.hpp"
#include "support/in_driver.hpp"
#include "support/mpi_main.hpp"

namespace os = ostraka;

namespace {

long objects = 0;

}  // namespace

// Counts the memory that this program allocates by new and does not delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  objects += os::testing::in_driver() ? 0 : 1;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  objects -= memory == nullptr || os::testing::in_driver() ? 0 : 1;
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

TEST_CASE("meshes come and go") {
  int const ranks = os::testing::ranks();
  auto const once = [&] {
    auto const mesh = os::make_mesh(X = ranks > 2 ? 2 : 1, Y = ranks > 2 ? ranks / 2 : ranks);
    auto const a = os::generate<std::int64_t, I/X, J/Y>(
        mesh, I = 5, J = 3, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { return i + j; });
    return os::value(os::sum<>(os::all_gather<Y>(a)));
  };
  auto const groups = [] {
#if OSTRAKA_ENABLE_MPI
    os::engine::peer_monitor const* const monitor = os::engine::peer_monitor::over(MPI_COMM_WORLD);
    return monitor != nullptr ? monitor->groups() : 0;
#else
    return 0;
#endif
  };
  for (int n = 0; n < 300; ++n) CHECK(once() == 45);  // until what is kept of the last meshes is full
  long const communicators_before = os::testing::communicators_alive();
  long const objects_before = objects;
  int const groups_before = groups();
  long wrong = 0;
  for (int n = 0; n < 300; ++n) wrong += once() != 45;
  CHECK(wrong == 0);
  CHECK(os::testing::communicators_alive() == communicators_before);
  CHECK(objects == objects_before);
  CHECK(groups() == groups_before);
  CHECK(groups() == 0);
}
