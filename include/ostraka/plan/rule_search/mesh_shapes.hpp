// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The meshes that a number of devices can form: 8 is 8, 2 · 4, 4 · 2 and 2 · 2 · 2. If all links are equal,
/// the order of mesh axes does not matter, and larger ones come first.

#include <cstdint>
#include <vector>

#include <ostraka/plan/spec/spec.hpp>

namespace ostraka::planner {

namespace detail {

inline void add_shapes(std::int64_t devices, int axes, bool ordered, std::vector<std::int64_t>& so_far,
                       std::vector<std::vector<std::int64_t>>& all) {
  auto const fits = [&](std::int64_t n) { return ordered || so_far.empty() || n <= so_far.back(); };
  if (fits(devices)) {
    so_far.push_back(devices);
    all.push_back(so_far);
    so_far.pop_back();
  }
  if (axes < 2) return;
  for (std::int64_t n = devices / 2; n > 1; --n) {
    if (devices % n != 0 || !fits(n)) continue;
    so_far.push_back(n);
    add_shapes(devices / n, axes - 1, ordered, so_far, all);
    so_far.pop_back();
  }
}

}  // namespace detail

/// All products of at most `most_axes` factors, each 2 or more, that equal `devices`. `ordered`: 2 · 4 is not 4 · 2.
[[nodiscard]] inline std::vector<std::vector<std::int64_t>> mesh_shapes(std::int64_t devices, int most_axes,
                                                                        bool ordered) {
  std::vector<std::vector<std::int64_t>> all;
  std::vector<std::int64_t> so_far;
  detail::add_shapes(devices, most_axes, ordered, so_far, all);
  return all;
}

}  // namespace ostraka::planner
