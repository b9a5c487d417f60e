// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Elements of a tensor somewhere in memory: a pointer, and how they lie from there on
/// (plan/regions/strided_box.hpp).

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/update_block.hpp>
#include <ostraka/plan/regions/strided_box.hpp>

namespace ostraka::engine {

using planner::box;
using planner::box_of;

/// A shape as kernels take it. @pre it does not lie as a message
inline strided layout_of(planner::strided_box const& b) {
  strided s;
  for (int i = 0; i < b.where.rank; ++i) s.add(b.where.at[i].size(), b.stride[i]);
  return s;
}

/// Elements of a box somewhere in memory.
template <class T>
struct region : planner::strided_box {
  T* data = nullptr;

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
[[gnu::visibility("default")]] inline thread_local constinit std::int64_t copied_bytes = 0;

/// to <- alpha from + beta to. @pre neither lies as a message
template <class Exec, class T>
void copy(Exec const& exec, region<T> const& to, region<T const> const& from, update<T> const& how = {}) {
  copied_bytes += to.where.size() * static_cast<std::int64_t>(sizeof(T));
  copy(exec, to.data, layout_of(to), from.data, layout_of(from), how);
}

/// The elements of `to` in the box `there` <- those of `from` in the box `here`, which is as large.
template <class Exec, class T>
void copy_part(Exec const& exec, region<T> const& to, box const& there, region<T const> const& from, box const& here) {
  region<T> const target = to.part(there);
  if (target.where.size() > 0) copy(exec, target, from.part(here));
}

}  // namespace ostraka::engine
