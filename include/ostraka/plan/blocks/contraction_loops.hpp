// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The loops of a local contraction of blocks, each with labels of its own: A[I, J] B[J, K] -> C[I, K] loops
/// over I, J, K, with a stride of each block along each. A label of a block in message layout becomes two or more
/// loops: over devices, and over the indices of a part.

#include <cstdint>

#include <ostraka/plan/blocks/contraction_problem.hpp>
#include <ostraka/plan/blocks/strided_box.hpp>

namespace ostraka::planner {

/// The units at which the loops along one label are cut, largest first.
struct label_cuts {
  int count = 0;
  std::int64_t unit[3 * max_mesh_axes]{};

  constexpr void add(std::int64_t u) {
    int at = 0;
    while (at < count && unit[at] > u) ++at;
    if (at < count && unit[at] == u) return;
    for (int k = count; k > at; --k) unit[k] = unit[k - 1];
    unit[at] = u;
    ++count;
  }

  constexpr void add(strided_box const& b, int dimension) {
    for (device_stride const& d : b.across)
      if (d.dimension == dimension) add(d.unit);
  }

  /// Calls `loop(extent, unit)`, outermost first, for the loops that together cover `extent` indices.
  template <class Loop>
  constexpr void for_each(std::int64_t extent, Loop const& loop) const {
    for (int k = 0; k < count; ++k) {
      loop(extent / unit[k], unit[k]);
      extent = unit[k];
    }
    loop(extent, std::int64_t(1));
  }
};

/// The labels of an absent tensor. (Null would do, but under -fsanitize=undefined g++ does not compare addresses of a
/// plan's parts with null at compile time.)
inline constexpr spec no_labels{};

/// A tensor of a contraction: its labels, and the layout of its elements.
struct contracted {
  spec const* labels = &no_labels;
  strided_box const* block = nullptr;
};

/// The loops of a contraction of these tensors (left, right, result; the right one may be absent), by labels 0 to
/// `labels` − 1. A label that no tensor has is a loop of one.
[[nodiscard, gnu::cold]] constexpr contraction loops_of_contraction(int labels, contracted const (&tensors)[3]) {
  contraction p;
  for (int l = 0; l < labels; ++l) {
    int at[3]{};
    label_cuts cuts;
    std::int64_t extent = 1;
    for (int t = 0; t < 3; ++t) {
      at[t] = tensors[t].labels->find(l);
      if (at[t] < 0) continue;
      extent = tensors[t].block->where.at[at[t]].size();
      cuts.add(*tensors[t].block, at[t]);
    }
    cuts.for_each(extent, [&](std::int64_t n, std::int64_t unit) {
      p.extent[p.labels] = n;
      for (int t = 0; t < 3; ++t) {
        presence_of(p, operand(t))[p.labels] = at[t] >= 0;
        if (at[t] >= 0) strides_of(p, operand(t))[p.labels] = tensors[t].block->step_of(at[t], unit);
      }
      ++p.labels;
    });
  }
  return p;
}

}  // namespace ostraka::planner
