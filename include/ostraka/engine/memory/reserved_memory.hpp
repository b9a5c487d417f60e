// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Addresses without memory behind them, for a program that is priced: what a device of a large mesh would set
/// aside may be more than this machine has, and nobody touches it. Linux refuses a single allocation that is larger
/// than its memory, unless it is told that nothing need be there. Whoever listens to Kokkos hears of them as of its own
/// allocations, so that they are counted.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ostraka::engine {

/// Null where there are none: in memory that is not the host's, and on systems without.
template <class Space>
char* reserve_addresses([[maybe_unused]] char const* label, [[maybe_unused]] std::size_t bytes) {
#if defined(MAP_NORESERVE)
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    if (Kokkos::Tools::profileLibraryLoaded())
      Kokkos::Tools::allocateData(Kokkos::Tools::make_space_handle(Space::name()), label, at, bytes);
    return static_cast<char*>(at);
  }
#endif
  return nullptr;
}

template <class Space>
void free_addresses([[maybe_unused]] char const* label, [[maybe_unused]] char* at, [[maybe_unused]] std::size_t bytes) {
#if defined(MAP_NORESERVE)
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    if (Kokkos::Tools::profileLibraryLoaded())
      Kokkos::Tools::deallocateData(Kokkos::Tools::make_space_handle(Space::name()), label, at, bytes);
    ::munmap(at, bytes);
  }
#endif
}

}  // namespace ostraka::engine
