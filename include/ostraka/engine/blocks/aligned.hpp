// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A block aligned with the dimensions of another block, whose extents it shares: for C[I_X, J] = f(A[I_X, J],
/// B[J]) the strides of B are 0 along I and 1 along J.

#include <cstdint>

#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

/// The first element that belongs to the other block, and the stride along each of that block's dimensions; 0 along
/// those that it lacks.
template <class T>
struct aligned {
  T* data;
  std::int64_t stride[max_rank];
};

/// Returns this device's block of `operand` aligned with that of `result`. Along labels that the result lacks, it
/// begins at their first index. @pre `data` is dense; the result's block is a part of it along each label that both
/// have
template <class T>
aligned<T> align(execution_context const& w, planner::spec const& operand, planner::spec const& result, T* data) {
  aligned<T> a{data, {}};
  std::int64_t step = 1;
  for (int i = operand.rank - 1; i >= 0; --i) {
    planner::range const own = planner::range_of(operand, i, w.here, w.sizes);
    if (int const at = result.find(operand.label[i]); at >= 0) {
      planner::range const wanted = planner::range_of(result, at, w.here, w.sizes);
      a.stride[at] = step;
      if (wanted.size() > 0) a.data += (wanted.begin - own.begin) * step;
    }
    step *= own.size();
  }
  return a;
}

}  // namespace ostraka::engine
