// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. What the schedules of a plan may hold beside copies, fills and products, whatever the extents: known while
/// a program is compiled, so that its engine has what its plans need. A move becomes a message of its own kind, or
/// none; a contraction of one tensor is a reduction.
///
///     C[I, K] <- A[I_X, J] B[J, K]      all_gather, contract      gathers

#include <ostraka/plan/spec/step.hpp>

namespace ostraka::planner {

/// Kinds of what schedules hold, as bits.
namespace kinds {
inline constexpr unsigned gathers = 1;
inline constexpr unsigned reduces_all = 2;
inline constexpr unsigned scatters = 4;
inline constexpr unsigned exchanges = 8;  ///< rings, too
inline constexpr unsigned folds = 16;
inline constexpr unsigned all = 31;
}  // namespace kinds

/// Of the messages of a step.
[[nodiscard]] constexpr unsigned kinds_of(step s) {
  switch (s) {
    case step::all_gather:
      return kinds::gathers;
    case step::all_reduce:
      return kinds::reduces_all;
    case step::reduce_scatter:
      return kinds::scatters;
    case step::all_to_all:
    case step::block_exchange:
    case step::ring_contraction:
      return kinds::exchanges;
    default:
      return 0;
  }
}

/// Of a plan's steps.
template <class Steps>
[[nodiscard]] constexpr unsigned kinds_of(Steps const& steps) {
  unsigned all = 0;
  for (int i = 0; i < steps.size(); ++i) {
    all |= kinds_of(steps[i].kind);
    if (contracts(steps[i].kind) && steps[i].right == no_tensor) all |= kinds::folds;
  }
  return all;
}

}  // namespace ostraka::planner
