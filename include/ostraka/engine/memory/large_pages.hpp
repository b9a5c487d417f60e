// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Large pages for blocks that Kokkos allocates, where Linux gives them on request: the first write to a page
/// of 4 KB costs as much as copying it, and another process that copies a block looks up each page. Workspace has its
/// own (slab_memory.hpp).

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <type_traits>

#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/heap.hpp>

namespace ostraka::engine {

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
