// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Tells allocations of the sham device, which stands for a driver and a GPU, from those of the program.

#if __has_include(<Kokkos_Sham.hpp>)
#  include "support/sham/device.hpp"
#endif

namespace ostraka::testing {

/// True if this host thread is in a function of the sham device.
inline bool in_driver() {
#if __has_include(<Kokkos_Sham.hpp>)
  return sham::driver::is_active();
#else
  return false;
#endif
}

}  // namespace ostraka::testing
