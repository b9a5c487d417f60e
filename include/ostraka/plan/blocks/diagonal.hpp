// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A block walked along several of its dimensions at once: D[i] = A[i, i] is A with the sum of both strides,
/// from the first index in both ranges.

#include <cstdint>

#include <ostraka/plan/blocks/strided_block.hpp>

namespace ostraka::planner {

/// The elements of the dense block `whole` whose dimension p runs along dimension `along[p]` of `target`, for all p at
/// once: all of the target, or the part of it that the block has. The place of the first one is counted from the
/// beginning of the block.
/// @pre each dimension of the target is some along[p]
[[nodiscard]] constexpr strided_block<std::int64_t> diagonal_of(box const& whole, int const* along, box const& target) {
  strided_box const block = dense(whole);
  strided_block<std::int64_t> d{{target}};
  for (int p = 0; p < whole.rank; ++p) {
    range& r = d.where.at[along[p]];
    r = intersect(r, whole.at[p]);
    d.stride[along[p]] += block.stride[p];
  }
  if (d.where.size() == 0) return d;  // an empty block may have no such place
  for (int p = 0; p < whole.rank; ++p) d.data += (d.where.at[along[p]].begin - whole.at[p].begin) * block.stride[p];
  return d;
}

}  // namespace ostraka::planner
