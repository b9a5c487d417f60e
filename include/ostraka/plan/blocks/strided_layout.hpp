// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The layout of a block in memory: extents and strides (in elements), without names and pointers. A[I, J]
/// stored row-major is {2, {I, J}, {J, 1}}.

#include <cstdint>
#include <initializer_list>

namespace ostraka::planner {

/// The most loops that a contraction of blocks can have: one for each label of an einsum, or two for a label that is
/// cut (plan/decisions/message_layout.hpp).
inline constexpr int max_loops = 16;

/// An extent and a stride for each dimension. It holds up to twice the rank of a tensor, because a gathered axis is two
/// dimensions: device and local.
struct strided {
  int rank = 0;
  std::int64_t extent[max_loops] = {};
  std::int64_t stride[max_loops] = {};

  /// The number of elements; 1 for rank 0.
  [[nodiscard]] constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extent[d];
    return n;
  }

  /// Adds an innermost dimension.
  constexpr strided& add(std::int64_t n, std::int64_t step) {
    extent[rank] = n;
    stride[rank] = step;
    ++rank;
    return *this;
  }

  /// Gives the dimensions row-major strides without padding.
  constexpr strided& close_gaps() {
    std::int64_t step = 1;
    for (int d = rank - 1; d >= 0; --d) {
      stride[d] = step;
      step *= extent[d];
    }
    return *this;
  }

  /// True if the elements are contiguous, in the order of their indices. This holds for any block of at most one
  /// element.
  [[nodiscard]] constexpr bool is_row_major() const {
    std::int64_t step = 1;
    bool follows = true;
    for (int d = rank - 1; d >= 0; --d) {
      if (extent[d] == 0) return true;
      follows = follows && (extent[d] == 1 || stride[d] == step);
      step *= extent[d];
    }
    return follows;
  }
};

/// Row-major strides without padding for these extents.
[[nodiscard]] constexpr strided row_major(std::int64_t const* extents, int rank) {
  strided s;
  s.rank = rank;
  for (int d = 0; d < rank; ++d) s.extent[d] = extents[d];
  return s.close_gaps();
}

[[nodiscard]] constexpr strided row_major(std::initializer_list<std::int64_t> extents) {
  return row_major(extents.begin(), static_cast<int>(extents.size()));
}

}  // namespace ostraka::planner
