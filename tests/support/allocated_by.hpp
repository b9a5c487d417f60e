// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Counts the bytes that Kokkos allocates while a function runs, and tells the memory of tensors from other memory.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>

namespace ostraka::testing {

/// True for the memory where tensors are stored; the host's copies of a GPU's messages are elsewhere.
inline bool is_of_tensors(Kokkos::Profiling::SpaceHandle const& space) {
  return std::strcmp(space.name, Kokkos::DefaultExecutionSpace::memory_space::name()) == 0;
}

template <class F>
std::uint64_t allocated_by(F const& f) {
  static std::uint64_t bytes = 0;
  bytes = 0;
  Kokkos::Tools::Experimental::set_allocate_data_callback(
      [](Kokkos::Profiling::SpaceHandle, char const*, void const*, std::uint64_t n) { bytes += n; });
  f();
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  return bytes;
}

}  // namespace ostraka::testing
