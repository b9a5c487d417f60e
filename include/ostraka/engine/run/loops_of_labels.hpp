// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The loops of a local contraction of blocks (plan/regions/contraction_loops.hpp) as kernels take them.

#include <cstdint>

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/plan/regions/contraction_loops.hpp>

namespace ostraka::engine::detail {

static_assert(planner::max_contraction_loops <= max_loops);

// The loops of a contraction of these tensors (left, right, result; the right may be none), as kernels take them.
inline contraction loops_of_labels(int labels, planner::contracted const (&tensors)[3]) {
  planner::contraction_loops const loops = planner::loops_of_contraction(labels, tensors);
  contraction p;
  p.labels = loops.count;
  std::int64_t* const strides[3] = {p.a, p.b, p.c};
  bool* const present[3] = {p.in_a, p.in_b, p.in_c};
  for (int l = 0; l < loops.count; ++l) {
    p.extent[l] = loops.extent[l];
    for (int t = 0; t < 3; ++t) {
      strides[t][l] = loops.stride[t][l];
      present[t][l] = loops.present[t][l];
    }
  }
  return p;
}

}  // namespace ostraka::engine::detail
