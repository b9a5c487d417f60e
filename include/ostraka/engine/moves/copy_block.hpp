// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Copies between blocks: a pointer, and the layout of the elements behind it (plan/blocks/strided_block.hpp).

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/update_block.hpp>
#include <ostraka/plan/blocks/strided_block.hpp>

namespace ostraka::engine {

using planner::box;
using planner::box_of;
using planner::dense_block;
using planner::strided_block;

/// Returns a shape in the form that kernels take. @pre it does not have the layout of a message
inline strided layout_of(planner::strided_box const& b) {
  strided s;
  for (int i = 0; i < b.where.rank; ++i) s.add(b.where.at[i].size(), b.stride[i]);
  return s;
}

/// Returns the block for reading only.
template <class T, class Layout>
strided_block<T const*, Layout> readable(strided_block<T*, Layout> const& b) {
  return {b, b.data};
}

/// Bytes that copies between blocks have written so far, packing and unpacking included.
[[gnu::visibility("default")]] inline thread_local constinit std::int64_t copied_bytes = 0;

/// to <- alpha from + beta to. @pre neither has the layout of a message
template <class Exec, class T>
void copy(Exec const& exec, strided_block<T*> const& to, strided_block<T const*> const& from,
          update<T> const& how = {}) {
  copied_bytes += to.where.size() * static_cast<std::int64_t>(sizeof(T));
  copy(exec, to.data, layout_of(to), from.data, layout_of(from), how);
}

/// to[there] <- from[here], for boxes with the same extents.
template <class Exec, class T>
void copy_part(Exec const& exec, strided_block<T*> const& to, box const& there, strided_block<T const*> const& from,
               box const& here) {
  strided_block<T*> const target = to.part(there);
  if (target.where.size() > 0) copy(exec, target, from.part(here));
}

}  // namespace ostraka::engine
