// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A block walked along several of its dimensions at once: D[i] = A[i, i] is A with the sum of both strides,
/// begun where the two ranges of indices meet.

#include <cstdint>

#include <ostraka/engine/moves/local_block.hpp>

namespace ostraka::engine {

/// The elements of `whole` whose dimension p runs along dimension `along[p]` of `target`, for all p at once. Looks at
/// the block itself if it covers the target; else makes a block of the target with zeros where it does not. @pre each
/// dimension of the target is some along[p]
template <class Exec, class T>
local_block<Exec, T> diagonal_of(Exec const& exec, region<T const> const& whole, int const* along, box const& target) {
  region<T const> covered = dense_region(whole.data, target);
  for (int p = 0; p < whole.where.rank; ++p) {
    planner::range& r = covered.where.at[along[p]];
    r = planner::intersect(r, whole.where.at[p]);
  }
  for (int i = 0; i < target.rank; ++i) {
    covered.stride[i] = 0;
  }
  bool const any = covered.where.size() > 0;  // else there may be no place to count from
  for (int p = 0; p < whole.where.rank; ++p) {
    covered.stride[along[p]] += whole.stride[p];
    if (any) covered.data += (covered.where.at[along[p]].begin - whole.where.at[p].begin) * whole.stride[p];
  }
  if (covered.where.size() == target.size()) {
    covered.where = target;
    return {covered, nullptr, typename local_block<Exec, T>::room()};
  }
  auto padded = local_block<Exec, T>::fresh(target);
  fill(exec, padded.mine, target.size(), T(0));
  if (any) copy(exec, dense_region(padded.mine, target).part(covered.where), covered);
  return padded;
}

}  // namespace ostraka::engine
