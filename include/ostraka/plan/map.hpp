// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Several tensors element by element: the result has every label of an operand, divided as the operand that divides it
/// most; the others are sliced for nothing, and repeated along labels that they lack. Nothing is moved.
///
///     A            B            result
///     [I_X, J]     [I_X, J]     [I_X, J]
///     [I_X, J]     [J]          [I_X, J]      repeated along I
///     [I_X, J]     [I, J]       [I_X, J]      B sliced
///     [I_X]        [I_Y]        –             moved first
///     [I_X]        [J_X]        –             a device would hold the diagonal blocks only

#include <ostraka/plan/spec.hpp>
#include <ostraka/plan/step.hpp>

namespace ostraka::planner {

/// Why tensors cannot meet element by element; each is a reason of the same name.
enum class map_fault { none, partial_in_nonlinear_operation, partial_plus_replicated, axis_split_differently, mesh_axis_on_two_axes };

/// The fault with its culprits by number, or the result.
struct map_finding {
  map_fault fault = map_fault::none;
  int label = -1;
  int other_label = -1;
  int mesh_axis = -1;
  int operand = -1;        ///< of which the label is divided in one way
  int other_operand = -1;  ///< of which it is divided in another
  spec result{};
};

using operand_specs = bounded_list<spec, 8>;

namespace detail {

constexpr int first_axis(mesh_set s) {
  for (int m = 0; m < max_mesh_axes; ++m)
    if (s.contains(m)) return m;
  return -1;
}

}  // namespace detail

/// `linear`: f(a + b) = f(a) + f(b), so that partial tensors may take part if all are partial over the same mesh axes.
[[nodiscard]] constexpr map_finding find_map(operand_specs const& operands, bool linear) {
  map_finding found;
  spec& r = found.result;
  int from[max_labels]{};  // the operand that a label of the result is divided as
  for (int k = 0; k < operands.size(); ++k) {
    spec const& s = operands[k];
    if (!linear && !s.partial.empty()) return {map_fault::partial_in_nonlinear_operation, -1, -1, detail::first_axis(s.partial), k, -1, {}};
    if (k > 0 && s.partial != r.partial)
      return {map_fault::partial_plus_replicated, -1, -1, detail::first_axis((s.partial | r.partial) - (s.partial & r.partial)), 0, k, {}};
    r.partial = s.partial;
    for (int i = 0; i < s.rank; ++i) {
      int const at = r.find(s.label[i]);
      if (at < 0) {
        from[r.rank] = k;
        r.push_back(s.label[i], s.over[i]);
      } else if (s.over[i].starts_with(r.over[at])) {
        if (s.over[i] != r.over[at]) from[at] = k;
        r.over[at] = s.over[i];
      } else if (!r.over[at].starts_with(s.over[i])) {
        return {map_fault::axis_split_differently, s.label[i], -1, -1, from[at], k, {}};
      }
    }
  }
  for (int m = 0; m < max_mesh_axes; ++m) {
    int first = -1;
    for (int i = 0; i < r.rank; ++i) {
      if (!r.over[i].axes().contains(m)) continue;
      if (first >= 0) return {map_fault::mesh_axis_on_two_axes, r.label[first], r.label[i], m, -1, -1, {}};
      first = i;
    }
    // A summand sliced along the mesh axis that it is summed over would lose the others.
    if (first >= 0 && r.partial.contains(m)) return {map_fault::partial_plus_replicated, -1, -1, m, -1, -1, {}};
  }
  return found;
}

}  // namespace ostraka::planner
