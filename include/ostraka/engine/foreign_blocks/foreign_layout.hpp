// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The part of a tensor that each device holds in arrays of the program: boxes that the devices have
/// exchanged, or blocks dealt to a grid of mesh axes, as in ScaLAPACK.

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/plan/blocks/box.hpp>
#include <ostraka/plan/blocks/combs.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// The arrays of all devices.
struct foreign_layout {
  bool is_dealt = false;
  planner::spec grid{};               ///< for dealt blocks: the mesh axes of each dimension, in the context's numbering
  std::int64_t block[max_rank]{};     ///< and the indices of a block
  dynamic_array<planner::box> boxes;  ///< otherwise the box of each array, device by device
  dynamic_array<std::size_t> first;   ///< where each device's boxes begin, and their end
  bool others_are_unknown = false;    ///< on a dry mesh: `boxes` has only this device's

  [[nodiscard]] std::size_t arrays(int device) const {
    auto const d = static_cast<std::size_t>(device);
    return is_dealt ? 1 : first[d + 1] - first[d];
  }
  [[nodiscard]] planner::box const& box_of(int device, std::size_t array) const {
    return boxes[first[static_cast<std::size_t>(device)] + array];
  }
};

/// The indices that a device holds in one of its arrays, dimension by dimension.
struct held_combs {
  planner::comb of[max_rank]{};
};

inline held_combs combs_of(execution_context const& w, foreign_layout const& arrays, int rank, int device,
                           device_coordinates const& at, std::size_t array) {
  held_combs held;
  for (int d = 0; d < rank; ++d)
    held.of[d] = arrays.is_dealt ? planner::dealt(w.sizes.label[arrays.grid.label[d]],
                                                  planner::block_number(arrays.grid.over[d], at.in_plan, w.sizes),
                                                  w.sizes.ways(arrays.grid.over[d]), arrays.block[d])
                                 : planner::comb_of(arrays.box_of(device, array).at[d]);
  return held;
}

}  // namespace ostraka::engine
