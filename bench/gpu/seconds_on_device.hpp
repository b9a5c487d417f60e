// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The clock of benchmarks on a device: from an idle device to an idle device, so that all kernels of the runs count.

#include <Kokkos_Core.hpp>

#include <functional>

#include "report.hpp"

namespace bench {

/// Returns the seconds of `repeats` runs, including all work that they have launched.
inline double seconds_on_device(std::function<void()> const& run, int repeats) {
  Kokkos::fence();
  return seconds_here(
      [&] {
        for (int i = 0; i < repeats; ++i) run();
        Kokkos::fence();
      },
      1);
}

}  // namespace bench
