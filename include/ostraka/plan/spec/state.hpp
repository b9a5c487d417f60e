// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The state of a tensor along one mesh axis: replicated (R), split on a label at a place among the mesh axes
/// that split it (S), or partial (P). A[I_XY] {U_Z} is S(I, 0) along X, S(I, 1) along Y, and P along Z. Rules about
/// tensors are tables over these states: how two of them meet (`meets`), and which step takes one to another
/// (`becomes`, step.hpp). Add a new state here (docs/design/states.md).

#include <cstdint>

#include <ostraka/plan/spec/spec.hpp>

namespace ostraka::planner {

/// One state, as a byte. The upper five bits are 1 + label, or 0 if no label is split. The lower three are the place of
/// the mesh axis on its label; without a label, they tell the states apart. Places go up to 6, so 7 can mark a partial
/// tensor.
struct axis_state {
  std::uint8_t code = 0;

  [[nodiscard]] static constexpr axis_state split(int label, int place) {
    return {static_cast<std::uint8_t>((label + 1) << 3 | place)};
  }
  [[nodiscard]] static constexpr axis_state partial() { return {7}; }

  /// The state of a product's work alone, not of a tensor: the work is not partitioned, and its left (0) or right (1)
  /// factor stays partial.
  [[nodiscard]] static constexpr axis_state keep_partial(int side) {
    return {static_cast<std::uint8_t>((max_labels + 1 + side) << 3)};
  }

  [[nodiscard]] constexpr bool is_replicated() const { return code == 0; }
  [[nodiscard]] constexpr bool is_split() const { return code > 7 && code >> 3 <= max_labels; }
  [[nodiscard]] constexpr bool is_partial() const { return code == 7; }

  /// The label that is split.
  /// @pre is_split()
  [[nodiscard]] constexpr int label() const { return (code >> 3) - 1; }
  /// The place of the mesh axis on its label; the major one has 0.
  /// @pre is_split()
  [[nodiscard]] constexpr int place() const { return code & 7; }

  friend constexpr bool operator==(axis_state, axis_state) = default;
};

/// The state of a tensor along a mesh axis.
[[nodiscard]] constexpr axis_state state_of(spec const& s, int mesh_axis) {
  for (int i = 0; i < s.rank; ++i)
    if (int const place = s.over[i].find(mesh_axis); place >= 0) return axis_state::split(s.label[i], place);
  return s.partial.contains(mesh_axis) ? axis_state::partial() : axis_state{};
}

/// How two tensors meet along a mesh axis.
enum class meeting : std::uint8_t {
  both_replicated,
  on_one_label,
  on_two_labels,
  partial_and_replicated,
  partial_and_split,
  both_partial
};

///     a \ b    R                        S(l)                S(k)                P
///     R        both_replicated          on_one_label        on_one_label        partial_and_replicated
///     S(l)     on_one_label             on_one_label        on_two_labels       partial_and_split
///     P        partial_and_replicated   partial_and_split   partial_and_split   both_partial
///
/// In a product or a map, two tensors that meet on one label or are replicated need no communication: a replicated one
/// is sliced, or lacks the label. No operation accepts two labels, or a part and a slice. A product accepts one partial
/// factor beside whole values; a map accepts the parts that its operation preserves.
[[nodiscard]] constexpr meeting meets(axis_state a, axis_state b) {
  if (a.is_partial() || b.is_partial())
    return a == b                                   ? meeting::both_partial
           : a.is_replicated() || b.is_replicated() ? meeting::partial_and_replicated
                                                    : meeting::partial_and_split;
  if (a.is_split() && b.is_split()) return a.label() == b.label() ? meeting::on_one_label : meeting::on_two_labels;
  return a.is_split() || b.is_split() ? meeting::on_one_label : meeting::both_replicated;
}

}  // namespace ostraka::planner
