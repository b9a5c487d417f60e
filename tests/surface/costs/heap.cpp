// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A loop over the same operations writes to memory that the process has: it does not ask the system for pages again
/// and again. A program's tensors of megabytes lie in memory for which large pages were requested, from the first one
/// on.
// ranks: 1

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include <ostraka/engine/memory/heap.hpp>
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

// The bytes of the memory from `memory` on that are in large pages, each within one mapping for which large pages were
// requested. It may count all of them, as a large page also holds what is next to a block.
std::size_t bytes_in_large_pages(void const* memory, std::size_t bytes, bool& system_tells) {
  using os::engine::large_page;
  auto const first = reinterpret_cast<std::uintptr_t>(memory);
  std::size_t found = 0;
  unsigned long begin = 0, end = 0;
  char line[4096];
  std::FILE* const large_pages = std::fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
  if (large_pages == nullptr) return 0;  // it has none
  std::fclose(large_pages);
  std::FILE* const file = std::fopen("/proc/self/smaps", "r");
  if (file == nullptr) return 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    unsigned long from = 0, to = 0;
    if (std::sscanf(line, "%lx-%lx ", &from, &to) == 2) begin = from, end = to;
    if (std::strncmp(line, "VmFlags:", 8) != 0) continue;
    system_tells = true;
    if (std::strstr(line, " hg") == nullptr) continue;
    for (std::uintptr_t page = first / large_page * large_page; page < first + bytes; page += large_page)
      if (begin <= page && page + large_page <= end)
        found += std::min(first + bytes, page + large_page) - std::max(first, page);
  }
  std::fclose(file);
  return found;
}

}  // namespace

TEST_CASE("results of a loop are written to pages that are there") {
  os::engine::prepare_heap();  // as os::environment does
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

TEST_CASE("tensors of megabytes lie in large pages from their first byte on, also when the heap has grown") {
#ifdef FREED_MEMORY_STAYS
  os::engine::prepare_heap();
  auto const mesh = os::make_mesh(X = 1);
  using tensor = os::tensor<double, I, J>;
  std::vector<tensor> held;
  std::size_t all = 0, large = 0;
  bool system_tells = false;
  for (int i = 0; i < 40; ++i) {
    held.push_back(os::zeros<double, I, J>(mesh, I = 512, J = 256 + 256 * (i % 3)));  // 1 to 3 MiB, 80 in all
    std::size_t const bytes = held.back().local().size() * sizeof(double);
    std::size_t const found = bytes_in_large_pages(held.back().local().data(), bytes, system_tells);
    all += bytes, large += found;
    if (i == 0 && system_tells) CHECK(found == bytes);
  }
  if (!system_tells) MESSAGE("this system has no large pages, or does not say for which memory they were asked");
  std::size_t const where_it_grows = 2 * os::engine::large_page;  // twice, as it does by 32 MiB
  if (system_tells) CHECK(all - large <= 2 * where_it_grows);
#endif
}
