// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The parts of a message, one for each member of a group, and blocks that lie as one. A[I, J] from A[I, J_X]
/// is (X, I, J/X).

#include <cstdint>
#include <vector>

#include <ostraka/engine/memory/dynamic_array.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/region.hpp>

namespace ostraka::engine {

/// A message of equal parts with these loops over devices, at `data`.
template <class T>
region<T> as_message(execution_context const& w, T* data, box const& where, planner::device_loops const& loops) {
  return {planner::as_message(where, loops, w.axis, w.sizes), data};
}

namespace detail {

// Do the boxes, one after the other, fill `whole` in the order of its memory?
inline bool in_memory_order(dynamic_array<box> const& parts, box const& whole) {
  int divided = -1;
  for (box const& b : parts)
    for (int i = 0; i < whole.rank; ++i)
      if (b.at[i] != whole.at[i]) {
        if (divided >= 0 && divided != i) return false;
        divided = i;
      }
  if (divided < 0) return parts.size() == 1;
  for (int i = 0; i < divided; ++i)
    if (whole.at[i].size() != 1) return false;
  std::int64_t next = whole.at[divided].begin;
  for (box const& b : parts) {
    planner::range const r = b.at[divided];
    if (r.size() == 0) continue;
    if (r.begin != next) return false;
    next = r.end;
  }
  return next == whole.at[divided].end;
}

// Does the block lie as the message of these parts?
template <class T>
bool lies_as_message(execution_context const& w, region<T> const& block, dynamic_array<box> const& parts,
                     planner::device_loops const& loops) {
  if (loops.empty()) return block.gapless() && in_memory_order(parts, block.where);
  region<T> const message = as_message(w, block.data, block.where, loops);
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

// One box after the other into a message.
template <class Exec, class T>
void pack(Exec const& exec, T* message, region<T const> const& from, dynamic_array<box> const& parts) {
  for (box const& b : parts) {
    if (b.size() > 0) copy(exec, dense_region(message, b), from.part(b));
    message += b.size();
  }
}

template <class Exec, class T>
void unpack(Exec const& exec, region<T> const& to, T const* message, dynamic_array<box> const& parts,
            update<T> const& how) {
  for (box const& b : parts) {
    if (b.size() > 0) copy(exec, to.part(b), dense_region(message, b), how);
    message += b.size();
  }
}

}  // namespace detail

/// What messages to or from equal blocks have in common: the parts of a group's members under a sharding.
struct message_record {
  bool known = false;
  bool as_it_is = false;  ///< the block is the message
  std::int64_t total = 0;
  std::vector<std::int64_t> counts{};  ///< elements of each part
  dynamic_array<box> boxes{};            ///< where they belong, unless the block is the message

  /// @param may_be is the block to be the message if it lies so?
  template <class T>
  void find_out(execution_context const& w, planner::mesh_set axes, planner::spec const& parts, region<T> const& block,
                planner::device_loops const& loops, bool may_be) {
    total = 0;
    counts.clear();
    boxes.clear();
    for (int d = 0; d < w.group_size(axes); ++d) {
      boxes.push_back(box_of(parts, w.member(axes, d), w.sizes));
      counts.push_back(boxes.back().size());
      total += counts.back();
    }
    as_it_is = may_be && detail::lies_as_message(w, block, boxes, loops);
    if (as_it_is) boxes.clear();
    known = true;
  }
};

}  // namespace ostraka::engine
