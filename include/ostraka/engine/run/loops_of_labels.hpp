// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The loops of a local contraction of blocks, each with labels of its own: A[I, J] B[J, K] -> C[I, K] is I,
/// J, K with a stride of each block along each.

#include <cstdint>

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/moves/region.hpp>
#include <ostraka/plan/lowering/message_layout.hpp>

namespace ostraka::engine::detail {

static_assert(planner::max_contraction_loops <= max_loops);

// A tensor of a local contraction: its labels, and where its elements lie.
template <class T>
struct contracted {
  planner::spec const* labels = nullptr;
  region<T const> const* block = nullptr;
};

// The block with its dimensions in the order of `to`'s labels.
template <class T>
region<T> reordered(region<T> const& block, planner::spec const& from, planner::spec const& to) {
  region<T> r = block;
  for (int i = 0; i < from.rank; ++i) {
    int const at = to.find(from.label[i]);
    r.layout.extent[at] = block.layout.extent[i];
    r.layout.stride[at] = block.layout.stride[i];
    r.where.at[at] = block.where.at[i];
  }
  for (int k = 0; k < r.across.size(); ++k) r.across[k].dimension = to.find(from.label[r.across[k].dimension]);
  return r;
}

// The loops of a contraction of these tensors (left, right, result; the right may be none), by labels 0 to `labels`
// − 1. A label of tensors that lie as messages is a loop over devices, as often as mesh axes divide it, and one over
// the indices of a part.
template <class T>
contraction loops_of_labels(int labels, contracted<T> const (&tensors)[3]) {
  contraction p;
  std::int64_t* const strides[3] = {p.a, p.b, p.c};
  bool* const present[3] = {p.in_a, p.in_b, p.in_c};
  for (int l = 0; l < labels; ++l) {
    int at[3];
    label_cuts cuts;
    std::int64_t extent = 1;
    for (int t = 0; t < 3; ++t) {
      at[t] = tensors[t].labels == nullptr ? -1 : tensors[t].labels->find(l);
      if (at[t] < 0) continue;
      extent = tensors[t].block->layout.extent[at[t]];
      cuts.add(*tensors[t].block, at[t]);
    }
    cuts.for_each(extent, [&](std::int64_t n, std::int64_t unit) {
      p.extent[p.labels] = n;
      for (int t = 0; t < 3; ++t) {
        present[t][p.labels] = at[t] >= 0;
        if (at[t] >= 0) strides[t][p.labels] = tensors[t].block->step_of(at[t], unit);
      }
      ++p.labels;
    });
  }
  return p;
}

}  // namespace ostraka::engine::detail
