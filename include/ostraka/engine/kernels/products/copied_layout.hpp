// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The layout of an operand that is copied whole before its products: A[J, B, I, K] becomes A[B, I, J, K] if
/// that is a batch of matrices.

#include <cstdint>

#include <ostraka/engine/kernels/contraction_labels.hpp>

namespace ostraka::engine::detail {

/// Gives an operand gapless strides: batch labels first, then its two groups, with the group that has its smallest
/// stride last, so that packing reads memory forward. Within a group, labels have the order of the operand that shares
/// the group, so that they merge.
[[gnu::cold]] inline void pack_strides(contraction& p, operand which) {
  auto const partner = [&](int l) {
    switch (class_of(p, l)) {
      case label_class::batch: return which == operand::c ? operand::a : operand::c;
      case label_class::m: return which == operand::a ? operand::c : operand::a;
      case label_class::n: return which == operand::b ? operand::c : operand::b;
      default: return which == operand::a ? operand::b : operand::a;
    }
  };
  int order[max_loops];
  int count = 0;
  int smallest = -1;
  std::int64_t* const stride = strides_of(p, which);
  for (int l = 0; l < p.labels; ++l) {
    if (!presence_of(p, which)[l]) continue;
    order[count++] = l;
    if (p.extent[l] > 1 && class_of(p, l) != label_class::batch && (smallest < 0 || stride[l] < stride[smallest]))
      smallest = l;
  }
  auto const group = [&](int l) {
    if (class_of(p, l) == label_class::batch) return 0;
    return smallest >= 0 && class_of(p, l) == class_of(p, smallest) ? 2 : 1;
  };
  auto const precedes = [&](int l, int r) {
    std::int64_t const l_step = strides_of(p, partner(l))[l], r_step = strides_of(p, partner(r))[r];
    if (group(l) != group(r)) return group(l) < group(r);
    return l_step != r_step ? l_step > r_step : l < r;
  };
  for (int i = 1; i < count; ++i) {
    int const l = order[i];
    int at = i;
    for (; at > 0 && precedes(l, order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = l;
  }
  std::int64_t step = 1;
  for (int i = count - 1; i >= 0; --i) {
    stride[order[i]] = step;
    step *= p.extent[order[i]];
  }
}

}  // namespace ostraka::engine::detail
