// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The contraction in groups of rows on this device's dense blocks, whose labels and extents are told.

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/kernels/contract_groups.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/plan/spec/spec.hpp>

namespace ostraka::engine {

/// A dense block: its labels, and its extents on this device.
struct labelled_block {
  planner::spec const* labels;
  std::int64_t const* extents;
};

/// C <- A B in groups along label `rows`; the operand that lacks it has a matrix for each group along label `group`.
/// Labels that C lacks are summed. All is written when it returns.
template <class Exec, class T>
void contract_groups_of_blocks(Exec const& exec, int labels, int rows, int group, std::int64_t const* sizes,
                               std::int64_t count, labelled_block const (&blocks)[3], T const* a, T const* b, T* c) {
  contraction problem;
  problem.labels = labels;
  for (int l = 0; l < labels; ++l) problem.extent[l] = 1;
  contraction_groups groups{rows, sizes, count, {0, 0, 0}};
  for (int o = 0; o < 3; ++o) {
    bool* const present = presence_of(problem, static_cast<operand>(o));
    std::int64_t* const stride = strides_of(problem, static_cast<operand>(o));
    std::int64_t step = 1;
    for (int i = blocks[o].labels->rank - 1; i >= 0; --i) {
      int const l = blocks[o].labels->label[i];
      if (l == group) {
        groups.step[o] = step;
      } else {
        present[l] = true;
        stride[l] = step;
        problem.extent[l] = blocks[o].extents[i];
      }
      step *= blocks[o].extents[i];
    }
  }
  contract_groups(exec, problem, groups, a, b, c);
  fence(exec);
}

}  // namespace ostraka::engine
