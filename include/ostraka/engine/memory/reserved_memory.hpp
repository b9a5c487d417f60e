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

/// Between such addresses and what lies before them: slabs that touch would be taken for one.
inline constexpr std::size_t gap_of_addresses = 4096;

/// Null where there are none: in memory that is not the host's, and on systems without.
template <class Space>
char* reserve_addresses([[maybe_unused]] char const* label, [[maybe_unused]] std::size_t bytes) {
#if defined(MAP_NORESERVE)
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    void* const mapped = ::mmap(nullptr, bytes + gap_of_addresses, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    char* const at = static_cast<char*>(mapped) + gap_of_addresses;
    if (Kokkos::Tools::profileLibraryLoaded())
      Kokkos::Tools::allocateData(Kokkos::Tools::make_space_handle(Space::name()), label, at, bytes);
    return at;
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
    ::munmap(at - gap_of_addresses, bytes + gap_of_addresses);
  }
#endif
}

}  // namespace ostraka::engine
