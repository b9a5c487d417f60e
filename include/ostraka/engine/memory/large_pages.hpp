// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Requests large pages for blocks that Kokkos allocates, where Linux provides them on request. The first
/// write to a page of 4 KB costs as much as copying the page, and another process that copies a block looks up each
/// page. Workspace has its own large pages (slab_memory.hpp).

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/memory/computing.hpp>

#if defined(__GLIBC__)
#  include <unistd.h>
#endif
#if defined(__linux__)
#  include <sys/mman.h>
#endif

namespace ostraka::engine {

/// The size of a large page on processors with pages of 4 KB.
inline constexpr std::size_t large_page = std::size_t{2} << 20;

/// Asks the system to back this memory with large pages at the first write. Pages that are already small stay small.
/// All pages stay small where the system has no large ones, or no way to ask for them.
inline void request_large_pages([[maybe_unused]] char* begin, [[maybe_unused]] char* end) {
#if defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = 4096;  // on systems with larger pages the call fails
  char* const first = begin + (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page;
  char* const last = end - reinterpret_cast<std::uintptr_t>(end) % page;
  if (first < last) (void)::madvise(first, static_cast<std::size_t>(last - first), MADV_HUGEPAGE);
#endif
}

#if defined(__GLIBC__)
namespace detail {

// The memory between the heap's end at startup and its first large page. It is never freed, so that no block is in
// these small pages.
[[gnu::visibility("default")]] inline void* before_large_pages = nullptr;

inline char* end_of_heap() { return static_cast<char*>(::sbrk(0)); }

}  // namespace detail
#endif

/// Returns the end of the heap if the block is in the heap, all of which should be in large pages; otherwise the end of
/// the block.
inline char* end_of_large_pages([[maybe_unused]] char* block, std::size_t bytes) {
#if defined(__GLIBC__)
  if (detail::before_large_pages != nullptr && block > detail::before_large_pages)
    if (char* const end = detail::end_of_heap(); block < end) return end;
#endif
  return block + bytes;
}

/// Requests large pages for memory to which nothing has been written yet, and for the rest of the heap after it, so
/// that the next blocks are in large pages from their first byte. Does nothing for less than half a large page, or for
/// memory that is not the host's.
template <class Space>
void request_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    if (bytes < large_page / 2) return;
    char* const begin = static_cast<char*>(memory);
    request_large_pages(begin, end_of_large_pages(begin, bytes));
  }
}

/// The same for memory that is about to be written; if the program is only priced, clears it if it is short.
template <class Space>
void prepare_memory(void* memory, std::size_t bytes) {
  computes() ? request_large_pages<Space>(memory, bytes) : clear_if_short<Space>(memory, bytes);
}

}  // namespace ostraka::engine
