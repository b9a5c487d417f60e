// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The heap of the process, from which glibc takes blocks up to 32 MiB: what is freed stays with it, and what
/// it grows by lies in large pages.
///
/// Operations allocate their results, megabytes that a program frees some operations later; the C library would give
/// them back to the system each time, and writing to fresh pages takes as long as computing what is written there: a
/// quarter of a training step. And another process that copies a message out of a block looks up each page of it: from
/// small pages it takes twice as long, or more.

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#if defined(__GLIBC__)
#include <malloc.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ostraka::engine {

/// As processors with pages of 4 KB have them.
inline constexpr std::size_t large_page = std::size_t{2} << 20;

/// Asks the system to have this memory in large pages as soon as somebody writes to it. What it has in small ones stays
/// there; so does all of it where the system has no others, or is not asked for them.
inline void ask_for_large_pages([[maybe_unused]] char* begin, [[maybe_unused]] char* end) {
#if defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = 4096;  // or a multiple of it: then the call is refused
  char* const first = begin + (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page;
  char* const last = end - reinterpret_cast<std::uintptr_t>(end) % page;
  if (first < last) (void)::madvise(first, static_cast<std::size_t>(last - first), MADV_HUGEPAGE);
#endif
}

/// Is the C library to be told? Not where the program's user has told it, or us, otherwise.
inline bool wants_a_prepared_heap() {
  if (char const* const said = std::getenv("OSTRAKA_KEEP_FREED_MEMORY"); said && *said)
    return std::strcmp(said, "0") != 0;
  for (char const* name : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_"})
    if (std::getenv(name) != nullptr) return false;
  char const* const tunables = std::getenv("GLIBC_TUNABLES");
  return tunables == nullptr || std::strstr(tunables, "glibc.malloc.") == nullptr;
}

#if defined(__GLIBC__)
namespace detail {

// What lies between the heap of before and its first large page, for good: blocks there would be in small pages.
inline void* before_large_pages = nullptr;

inline char* end_of_heap() { return static_cast<char*>(::sbrk(0)); }

// The heap is made to grow by small blocks, since the C library writes to the end of each one, and the system gives a
// large page only where nobody has written.
inline void begin_large_pages() {
  constexpr int most = 64;  // if it has not grown then, more than that was free
  constexpr std::size_t small = std::size_t{1} << 16;
  char* taken[most];
  int n = 0;
  char* const before = end_of_heap();
  while (n < most && end_of_heap() == before) taken[n++] = static_cast<char*>(std::malloc(small));
  if (char* const end = end_of_heap(); end > before) {
    ask_for_large_pages(before, end);
    std::uintptr_t const last = reinterpret_cast<std::uintptr_t>(taken[n - 1]);
    before_large_pages = std::malloc(large_page - last % large_page);
  }
  while (n > 0) std::free(taken[--n]);
}

}  // namespace detail
#endif

/// The end of the heap that a block lies in, which is to be in large pages as a whole; else the end of the block.
inline char* end_of_large_pages([[maybe_unused]] char* block, std::size_t bytes) {
#if defined(__GLIBC__)
  if (detail::before_large_pages != nullptr && block > detail::before_large_pages)
    if (char* const end = detail::end_of_heap(); block < end) return end;
#endif
  return block + bytes;
}

/// Tells the C library, where it is glibc: blocks up to 32 MiB, the largest for which it can be told, are reused. Larger
/// ones go back, so that what lies idle is bounded. The heap grows by as much.
inline void prepare_heap() {
#if defined(__GLIBC__)
  if (!wants_a_prepared_heap()) return;
  constexpr int largest = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, largest);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, largest);
  if (detail::before_large_pages == nullptr) detail::begin_large_pages();
#endif
}

}  // namespace ostraka::engine
