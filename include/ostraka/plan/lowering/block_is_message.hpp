// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Blocks that are sent or received in place, because their parts are in the order of the devices, as in a
/// message.

#include <cstdint>

#include <ostraka/plan/decisions/message_layout.hpp>
#include <ostraka/plan/decisions/viewpoint.hpp>

namespace ostraka::planner::detail {

// True if the parts under `parts` of a dense block under `whole` are consecutive in it, in the order of a group's
// members.
[[gnu::cold]] constexpr bool parts_in_order(viewpoint const& v, spec const& whole, spec const& parts, mesh_set axes) {
  extents const& e = v.sizes;
  int divided = -1;
  for (int i = 0; i < whole.rank; ++i) {
    if (e.ways(parts.over[i]) == e.ways(whole.over[i])) continue;
    if (divided >= 0 || !parts.over[i].starts_with(whole.over[i])) return false;
    divided = i;
  }
  if (divided < 0 || !in_runs(whole, parts, e)) return false;
  int before = -1;
  std::int64_t devices = 1;
  for (int k = whole.over[divided].size(); k < parts.over[divided].size(); ++k) {
    int const m = parts.over[divided][k];
    if (e.mesh[m] == 1) continue;
    if (!axes.contains(m) || (before >= 0 && (v.predicts || v.order[m] < v.order[before]))) return false;
    before = m;
    devices *= e.mesh[m];
  }
  return devices == e.ways(axes);
}

// True if the block is in the layout of the message of its parts. Parts with loops over devices are equal: they were
// written in this layout, or have it anyway.
[[gnu::cold]] constexpr bool block_is_message(viewpoint const& v, strided_box const& block, spec const& whole,
                                              spec const& parts, mesh_set axes, device_loops const& loops,
                                              bool is_written_as_message) {
  if (is_written_as_message) return true;
  if (loops.empty()) return block.gapless() && parts_in_order(v, whole, parts, axes);
  if (v.predicts && loops.size() > 1) return false;  // the order is not known
  strided_box const message = as_message(block.where, loops, v.order, v.sizes);
  for (int i = 0; i < block.where.rank; ++i) {
    std::int64_t part = block.where.at[i].size();
    for (device_stride const& d : message.across)
      if (d.dimension == i) part = d.unit;
    if (part > 1 && block.stride[i] != message.stride[i]) return false;
  }
  for (device_stride const& d : message.across)
    if (block.step_of(d.dimension, d.unit) != d.stride) return false;
  return true;
}

}  // namespace ostraka::planner::detail
