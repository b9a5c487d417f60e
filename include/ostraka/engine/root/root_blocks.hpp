// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Relates a whole tensor on device 0 to the blocks of all devices. If several devices hold the same block,
/// the first of them sends it to device 0 or receives it from there. A[I_X, J] on X=2 · Y=3: the blocks of devices 0
/// and 3.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/copy_block.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The block of each device of the whole mesh, and the number of its elements that are sent: 0 if an earlier device
/// holds the same block.
struct root_blocks {
  dynamic_array<box> boxes;
  std::vector<std::int64_t> counts;

  [[nodiscard]] std::int64_t elements() const {
    std::int64_t total = 0;
    for (std::int64_t const count : counts) total += count;
    return total;
  }

  /// Calls f(block, offset) for each block that is sent; `offset` is its begin among these blocks.
  template <class F>
  void for_each(F const& f) const {
    std::int64_t next = 0;
    for (std::size_t d = 0; d < boxes.size(); ++d) {
      if (counts[d] > 0) f(boxes[d], next);
      next += counts[d];
    }
  }
};

/// Returns the blocks of a tensor `s`, whose mesh axes are those of the execution context.
inline root_blocks root_blocks_of(execution_context const& w, planner::spec const& s) {
  device_mesh const& mesh = *w.mesh;
  root_blocks blocks;
  for (int device = 0; device < mesh.devices(); ++device) {
    device_coordinates const c = coordinates_on(w, device);
    bool first = true;
    for (int axis = 0; axis < mesh.axes(); ++axis) {
      bool used = false;
      for (int m = 0; m < w.sizes.mesh_axes; ++m) used = used || w.axis[m] == axis;
      first = first && (used || c.at[axis] == 0);
    }
    blocks.boxes.push_back(box_of(s, c.in_plan, w.sizes));
    blocks.counts.push_back(first ? blocks.boxes.back().size() : 0);
  }
  return blocks;
}

/// Begins the region of an operation that moves the blocks to device 0 or from it: `gather_to_root [I_X, J], 12 B on
/// device 0`.
[[gnu::cold, gnu::noinline]] inline void push_root_blocks(execution_context const& w, planner::spec const& s,
                                                          root_blocks const& blocks, std::size_t element_bytes) {
  std::int64_t const bytes = blocks.elements() * static_cast<std::int64_t>(element_bytes);
  push_region(
      join_text(w.operation, ' ', planner::describe(s, w.names), ", ", planner::describe_bytes(bytes), " on device 0"));
}

/// Returns all indices of a tensor `s`.
inline box whole_box(execution_context const& w, planner::spec const& s) {
  box everything{s.rank};
  for (int i = 0; i < s.rank; ++i) everything.at[i] = {0, w.sizes.label[s.label[i]]};
  return everything;
}

/// Returns the mesh axes, as bits, over which devices hold the same block as this one.
inline std::uint32_t replicating_axes(execution_context const& w) {
  std::uint32_t bits = (std::uint32_t{1} << w.mesh->axes()) - 1;
  for (int m = 0; m < w.sizes.mesh_axes; ++m) bits &= ~(std::uint32_t{1} << w.axis[m]);
  return bits;
}

}  // namespace ostraka::engine
