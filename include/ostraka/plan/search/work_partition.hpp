// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The partition of the work of a local product among the devices along each mesh axis, by a label or by none,
/// as a layout of its own; the shardings of the factors that it needs, and the sharding of the product.
///
///     by             factor with the label   factor without   product
///     none           R                       R                R
///     none, A kept   —                       A: P, others: R  P
///     b or i or k    S(label)                R                S(label)
///     j (summed)     S(j)                    R                P

#include <ostraka/plan/search/contraction_order.hpp>
#include <ostraka/plan/search/layout.hpp>

namespace ostraka::planner::detail {

/// The sharding that a partition of the work needs for a factor with these labels.
constexpr layout asked_of_factor(layout partition, label_set labels, int side) {
  layout q = 0;
  for (int m = 0; partition >> 8 * m != 0; ++m) {
    axis_state const s = state_of(partition, m);
    bool const has_label = s.is_split() && (labels >> s.label() & 1) != 0;
    if (has_label) q |= layout_along(m, s);
    if (s == axis_state::keep_partial(side)) q |= layout_along(m, axis_state::partial());
  }
  return q;
}

/// The sharding of the local product, which has these labels.
constexpr layout given_by_product(layout partition, label_set labels) {
  layout q = 0;
  for (int m = 0; partition >> 8 * m != 0; ++m) {
    axis_state const s = state_of(partition, m);
    bool const survives = s.is_split() && (labels >> s.label() & 1) != 0;
    if (!s.is_replicated()) q |= layout_along(m, survives ? s : axis_state::partial());
  }
  return q;
}

}  // namespace ostraka::planner::detail
