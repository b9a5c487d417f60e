// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Large pages for large blocks, where Linux gives them on request: the first write to a page of 4 KB costs as
/// much as copying it, and memory of many megabytes comes from the system anew each time. NumPy asks for them from the
/// same size on. Workspace has its own (slab_memory.hpp).

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/memory/computing.hpp>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ostraka::engine {

/// For memory that nobody has written to yet. Memory that is smaller, or not the host's, stays as it is; so does all
/// where the system refuses.
template <class Space>
void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::size_t smallest = std::size_t{4} << 20;
  constexpr std::uintptr_t page = 4096;  // or a multiple of it: then the call is refused
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    if (bytes < smallest) return;
    std::uintptr_t const begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
    std::uintptr_t const end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }
#endif
}

/// The same, for memory that is about to be computed in.
template <class Space>
void prepare_memory(void* memory, std::size_t bytes) {
  computes() ? ask_for_large_pages<Space>(memory, bytes) : clear_if_short<Space>(memory, bytes);
}

}  // namespace ostraka::engine
