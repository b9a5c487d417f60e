// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A block walked along several of its dimensions at once: D[i] = A[i, i] is A with the sum of both strides,
/// begun where the two ranges of indices meet.

#include <cstdint>

#include <ostraka/plan/regions/strided_box.hpp>

namespace ostraka::planner {

/// What a block has of a tensor on its diagonals, and where that begins in the block.
struct diagonal {
  strided_box lies{};
  std::int64_t begin = 0;
};

/// The elements of the dense block `whole` whose dimension p runs along dimension `along[p]` of `target`, for all p at
/// once: all of the target, or what of it the block has. @pre each dimension of the target is some along[p]
[[nodiscard]] constexpr diagonal diagonal_of(box const& whole, int const* along, box const& target) {
  strided_box const block = dense(whole);
  diagonal d{{target}};
  for (int p = 0; p < whole.rank; ++p) {
    range& r = d.lies.where.at[along[p]];
    r = intersect(r, whole.at[p]);
    d.lies.stride[along[p]] += block.stride[p];
  }
  if (d.lies.where.size() == 0) return d;  // there may be no place to count from
  for (int p = 0; p < whole.rank; ++p)
    d.begin += (d.lies.where.at[along[p]].begin - whole.at[p].begin) * block.stride[p];
  return d;
}

}  // namespace ostraka::planner
