// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Large pages for blocks that Kokkos allocates, where Linux gives them on request: the first write to a page
/// of 4 KB costs as much as copying it, and another process that copies a block looks up each page. Workspace has its
/// own (slab_memory.hpp).

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/memory/computing.hpp>

#if defined(__GLIBC__)
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

#if defined(__GLIBC__)
namespace detail {

// What lies between the heap of before and its first large page, for good: blocks there would be in small pages.
[[gnu::visibility("default")]] inline void* before_large_pages = nullptr;

inline char* end_of_heap() { return static_cast<char*>(::sbrk(0)); }

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

/// For memory that nobody has written to yet; with it for the rest of the heap, whose next blocks then lie in large
/// pages from their first byte on. Memory that is smaller than half of one, or not the host's, stays as it is.
template <class Space>
void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    if (bytes < large_page / 2) return;
    char* const begin = static_cast<char*>(memory);
    ask_for_large_pages(begin, end_of_large_pages(begin, bytes));
  }
}

/// The same, for memory that is about to be computed in.
template <class Space>
void prepare_memory(void* memory, std::size_t bytes) {
  computes() ? ask_for_large_pages<Space>(memory, bytes) : clear_if_short<Space>(memory, bytes);
}

}  // namespace ostraka::engine
