// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A striped sequence (Brandon and others, 2023; the pairs of chunks are Llama 3's). It is cut into 2n chunks,
/// and device i of n has chunks i and 2n − 1 − i, so that each device has early and late positions.
///
///     n = 2, positions by index:   0 1 | 6 7 || 2 3 | 4 5

#include <cstdint>

namespace ostraka::planner {

struct stripes {
  std::int64_t extent = 0;
  std::int64_t devices = 0;  ///< 0: the sequence is in order

  [[nodiscard]] constexpr bool in_order() const { return devices == 0; }
  [[nodiscard]] constexpr bool fits() const { return in_order() || extent % (2 * devices) == 0; }

  /// The number of consecutive indices with consecutive positions.
  [[nodiscard]] constexpr std::int64_t chunk() const { return in_order() ? extent : extent / (2 * devices); }

  /// The position of the element at an index.
  /// @pre the sequence fits (it can be cut into stripes)
  [[nodiscard]] constexpr std::int64_t position(std::int64_t index) const {
    if (in_order() || chunk() == 0) return index;
    std::int64_t const number = index / chunk(), device = number / 2;
    return (number % 2 == 0 ? device : 2 * devices - 1 - device) * chunk() + index % chunk();
  }
};

}  // namespace ostraka::planner
