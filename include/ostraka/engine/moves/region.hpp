// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Elements of a tensor somewhere in memory: a pointer, and how they lie from there on
/// (plan/regions/strided_box.hpp).

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/copy.hpp>
#include <ostraka/engine/kernels/strided.hpp>
#include <ostraka/engine/kernels/update_block.hpp>
#include <ostraka/plan/regions/contraction_loops.hpp>
#include <ostraka/plan/regions/strided_box.hpp>

namespace ostraka::engine {

using planner::box;
using planner::box_of;
using planner::device_stride;

/// Elements of a box somewhere in memory.
template <class T>
struct region : planner::strided_box {
  T* data = nullptr;

  /// The shape in memory. @pre it does not lie as a message
  [[nodiscard]] strided layout() const {
    strided s;
    for (int i = 0; i < where.rank; ++i) s.add(where.at[i].size(), stride[i]);
    return s;
  }

  /// The part of it within `inner`. @pre it lies within, and this does not lie as a message
  [[nodiscard]] region part(box const& inner) const {
    return {planner::strided_box::part(inner), data + offset_of(inner)};
  }
};

/// A region without gaps at `data`.
template <class T>
region<T> dense_region(T* data, box const& where) {
  return {planner::dense(where), data};
}

template <class T>
region<T const> readable(region<T> const& r) {
  return {r, r.data};
}

/// Bytes that copies between regions have written so far: packed, unpacked, put in place.
inline thread_local constinit std::int64_t copied_bytes = 0;

/// to <- alpha from + beta to. @pre of two messages, the units along a dimension divide one another
template <class Exec, class T>
void copy(Exec const& exec, region<T> const& to, region<T const> const& from, update<T> const& how = {}) {
  copied_bytes += to.where.size() * static_cast<std::int64_t>(sizeof(T));
  if (to.across.empty() && from.across.empty()) return copy(exec, to.data, to.layout(), from.data, from.layout(), how);
  strided target, source;
  for (int i = 0; i < to.where.rank; ++i) {
    planner::label_cuts cuts;
    cuts.add(to, i);
    cuts.add(from, i);
    cuts.for_each(to.where.at[i].size(), [&](std::int64_t extent, std::int64_t unit) {
      target.add(extent, to.step_of(i, unit));
      source.add(extent, from.step_of(i, unit));
    });
  }
  copy(exec, to.data, target, from.data, source, how);
}

}  // namespace ostraka::engine
