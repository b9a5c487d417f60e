// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. planner::stripes::position, for kernels.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <ostraka/plan/blocks/stripes.hpp>

namespace ostraka::engine {

/// Maps an index of a sequence, striped or in order, to its position. @pre the sequence has elements, and stripes fit
struct position_at {
  std::int64_t chunk, devices;

  explicit position_at(planner::stripes const& s) : chunk(s.chunk()), devices(s.devices) {}
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t index) const {
    std::int64_t const number = index / chunk, device = number / 2;
    return (number % 2 == 0 ? device : 2 * devices - 1 - device) * chunk + index % chunk;
  }
};

}  // namespace ostraka::engine
