// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Makes glibc take blocks up to 32 MiB from the heap of the process, which keeps freed blocks and grows in
/// large pages.
///
/// An operation allocates megabytes for its result, which the program frees some operations later. Without these
/// settings the C library returns the memory to the system each time, and writing to fresh pages takes as long as
/// computing their contents: a quarter of a training step. Another process that copies a message out of a block also
/// looks up each page of the block; from small pages, the copy takes at least twice as long.

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <ostraka/engine/memory/large_pages.hpp>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace ostraka::engine {

/// True if the C library should get our settings; false if the user has configured it, or Ostraka, differently.
inline bool may_tune_heap() {
  if (char const* const setting = std::getenv("OSTRAKA_KEEP_FREED_MEMORY"); setting && *setting)
    return std::strcmp(setting, "0") != 0;
  for (char const* name : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_"})
    if (std::getenv(name) != nullptr) return false;
  char const* const tunables = std::getenv("GLIBC_TUNABLES");
  return tunables == nullptr || std::strstr(tunables, "glibc.malloc.") == nullptr;
}

#if defined(__GLIBC__)
namespace detail {

// Makes the heap grow by small blocks, since the C library writes to the end of each block, and the system provides a
// large page only where nothing has been written yet.
inline void begin_large_pages() {
  constexpr int most = 64;  // if the heap has not grown by then, enough memory was free
  constexpr std::size_t small = std::size_t{1} << 16;
  char* taken[most];
  int n = 0;
  char* const before = end_of_heap();
  while (n < most && end_of_heap() == before) taken[n++] = static_cast<char*>(std::malloc(small));
  if (char* const end = end_of_heap(); end > before) {
    request_large_pages(before, end);
    std::uintptr_t const last = reinterpret_cast<std::uintptr_t>(taken[n - 1]);
    before_large_pages = std::malloc(large_page - last % large_page);
  }
  while (n > 0) std::free(taken[--n]);
}

}  // namespace detail
#endif

/// Tells glibc, if it is the C library, to reuse blocks up to 32 MiB, the largest limit it accepts. Larger blocks
/// return to the system, so that idle memory is bounded. The heap grows by the same amount.
[[gnu::cold]] inline void prepare_heap() {
#if defined(__GLIBC__)
  if (!may_tune_heap()) return;
  constexpr int largest = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, largest);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, largest);
  if (detail::before_large_pages == nullptr) detail::begin_large_pages();
#endif
}

}  // namespace ostraka::engine
