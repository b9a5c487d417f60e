// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Boxes of global indices: the part of a tensor on a device, and the common part of two devices. Device 1 of
/// 2 holds the box [5, 10) × [0, 4) of A[I_X, J] with I = 10 and J = 4.

#include <cstdint>

#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::planner {

/// A box of global indices, dimension by dimension.
struct box {
  int rank = 0;
  range at[max_rank]{};

  [[nodiscard]] constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= at[i].size();
    return n;
  }
};

/// The box that a device with these coordinates holds under `s`.
[[nodiscard]] constexpr box box_of(spec const& s, coordinates const& device, extents const& e) {
  box b;
  b.rank = s.rank;
  for (int i = 0; i < s.rank; ++i) b.at[i] = range_of(s, i, device, e);
  return b;
}

/// The common part of two boxes of the same tensor.
[[nodiscard]] constexpr box intersect(box const& a, box const& b) {
  box r;
  r.rank = a.rank;
  for (int i = 0; i < a.rank; ++i) r.at[i] = intersect(a.at[i], b.at[i]);
  return r;
}

}  // namespace ostraka::planner
