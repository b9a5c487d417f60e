// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The shape of a block in memory: extents and strides (in elements), no names. A[I, J] stored row-major is
/// {2, {I, J}, {J, 1}}.

#include <cstdint>
#include <initializer_list>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>

namespace ostraka::engine {

/// A strided block. Room for twice the rank of a tensor, because a gathered axis is two dimensions: device and local.
struct strided {
  int rank = 0;
  std::int64_t extent[max_loops] = {};
  std::int64_t stride[max_loops] = {};

  /// Number of elements; 1 for rank 0.
  std::int64_t size() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extent[d];
    return n;
  }

  /// Adds an innermost dimension.
  strided& add(std::int64_t n, std::int64_t step) {
    extent[rank] = n;
    stride[rank] = step;
    ++rank;
    return *this;
  }
};

/// Row-major strides without padding for these extents.
inline strided row_major(std::int64_t const* extents, int rank) {
  strided s;
  s.rank = rank;
  std::int64_t step = 1;
  for (int d = rank - 1; d >= 0; --d) {
    s.extent[d] = extents[d];
    s.stride[d] = step;
    step *= extents[d];
  }
  return s;
}

inline strided row_major(std::initializer_list<std::int64_t> extents) {
  return row_major(extents.begin(), static_cast<int>(extents.size()));
}

/// The loops over two blocks of the same extents, in the order of the first block's memory, contiguous ones merged.
/// Offsets: {first, second}.
inline loop_nest<2> loops_over(strided const& first, strided const& second) {
  loop_nest<2> loops;
  for (int d = 0; d < first.rank; ++d) loops.add(first.extent[d], first.stride[d], second.stride[d]);
  loops.order_by(0);
  loops.merge();
  return loops;
}

}  // namespace ostraka::engine
