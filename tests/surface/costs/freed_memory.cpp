// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A loop over the same operations writes to memory that the process has: the system is asked for no pages again and
/// again.
// ranks: 1

#include <doctest/doctest.h>

#include <ostraka/engine/memory/freed_memory.hpp>
#include <ostraka/ostraka.hpp>

#include "support/axes.hpp"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#include <sys/resource.h>
#define FREED_MEMORY_STAYS 1
#endif

namespace os = ostraka;

namespace {

long faults() {
#ifdef FREED_MEMORY_STAYS
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
#else
  return 0;  // another C library or a sanitizer's allocator does as it does
#endif
}

}  // namespace

TEST_CASE("results of a loop are written to pages that are there") {
  os::engine::keep_freed_memory();  // as os::environment does
  auto const mesh = os::make_mesh(X = 1);
  auto const a = os::zeros<double, I, J>(mesh, I = 512, J = 512);  // 2 MB
  auto const program = [&] {
    auto const b = os::add(a, a);
    auto const c = os::multiply(b, a);
    return os::add(os::add(b, c), c);
  };
  for (int warm = 0; warm < 5; ++warm) program();
  long const before = faults();
  for (int i = 0; i < 20; ++i) program();
  CHECK(faults() - before < 20 * 512);  // of 4 KB each; a single block of each round would be as many
}
