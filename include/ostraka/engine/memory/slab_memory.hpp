// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The source of a slab's memory: Kokkos, or large pages for long slabs on the host. If the program is only
/// priced and Kokkos refuses, it reserves addresses without memory: a device of a large mesh may need more memory than
/// this machine has, and pricing touches none of it. Linux refuses a single allocation larger than its memory, unless
/// the call asks for addresses only.
///
/// Large pages help because messages are packed into this memory: another process that copies a message looks up each
/// of its pages. An all-to-all of 2 MiB takes 0.55 of the time.
///
/// All of it is reported to tools that listen to Kokkos, like Kokkos' own allocations, so that it is counted.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdlib>
#include <type_traits>

#include <ostraka/engine/memory/large_pages.hpp>

#if defined(__linux__)
#  include <sys/mman.h>
#endif

namespace ostraka::engine {

namespace detail {

template <class Space>
[[gnu::cold]] void report_allocation(char const* label, void const* at, std::size_t bytes) {
  if (Kokkos::Tools::profileLibraryLoaded())
    Kokkos::Tools::allocateData(Kokkos::Tools::make_space_handle(Space::name()), label, at, bytes);
}

template <class Space>
[[gnu::cold]] void report_free(char const* label, void const* at, std::size_t bytes) {
  if (Kokkos::Tools::profileLibraryLoaded())
    Kokkos::Tools::deallocateData(Kokkos::Tools::make_space_handle(Space::name()), label, at, bytes);
}

}  // namespace detail

/// Returns memory that begins at a multiple of a large page, in large pages if the system has any. Returns null if the
/// memory would fill less than half a large page, is not the host's, or cannot be allocated.
template <class Space>
char* allocate_large_pages([[maybe_unused]] char const* label, [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    if (bytes < large_page / 2) return nullptr;
    std::size_t const all = (bytes / large_page + 1) * large_page;  // more: adjacent slabs would be taken for one
    if (all < bytes) return nullptr;
    char* const at = static_cast<char*>(std::aligned_alloc(large_page, all));
    if (at == nullptr) return nullptr;
    request_large_pages(at, at + all);
    detail::report_allocation<Space>(label, at, bytes);
    return at;
  }
#endif
  return nullptr;
}

template <class Space>
void free_large_pages(char const* label, char* at, std::size_t bytes) {
  detail::report_free<Space>(label, at, bytes);
  std::free(at);
}

/// The distance between addresses without memory and the mapping before them.
inline constexpr std::size_t gap_of_addresses = 4096;

/// Reserves addresses without memory. Returns null for memory that is not the host's, and on systems that cannot do so.
template <class Space>
char* reserve_addresses([[maybe_unused]] char const* label, [[maybe_unused]] std::size_t bytes) {
#if defined(MAP_NORESERVE)
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    void* const mapped = ::mmap(nullptr, bytes + gap_of_addresses, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    char* const at = static_cast<char*>(mapped) + gap_of_addresses;
    detail::report_allocation<Space>(label, at, bytes);
    return at;
  }
#endif
  return nullptr;
}

template <class Space>
void free_addresses([[maybe_unused]] char const* label, [[maybe_unused]] char* at, [[maybe_unused]] std::size_t bytes) {
#if defined(MAP_NORESERVE)
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    detail::report_free<Space>(label, at, bytes);
    ::munmap(at - gap_of_addresses, bytes + gap_of_addresses);
  }
#endif
}

}  // namespace ostraka::engine
