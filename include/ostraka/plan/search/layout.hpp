// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The sharding of a tensor as one number, for searches that visit thousands of shardings at compile time: the
/// compiler needs a single step to compare, copy or store one. Byte m is the axis_state (state.hpp) of mesh axis m:
/// A[I_XY] {U_Z} is S(I, 0), S(I, 1), P. All functions that read or write such a byte are in this file.

#include <cstdint>

#include <ostraka/plan/spec/spec.hpp>
#include <ostraka/plan/spec/state.hpp>

namespace ostraka::planner::detail {

using layout = std::uint64_t;

/// The layout with this state along one mesh axis; along the others it is replicated.
constexpr layout layout_along(int m, axis_state s) { return static_cast<layout>(s.code) << 8 * m; }

constexpr axis_state state_of(layout q, int m) { return {static_cast<std::uint8_t>(q >> 8 * m & 255)}; }

constexpr layout with(layout q, int m, axis_state s) { return (q & ~(layout{255} << 8 * m)) | layout_along(m, s); }

constexpr bool is_replicated(layout q, int m) { return (q >> 8 * m & 255) == 0; }

/// The label that the mesh axis splits, −1 if it splits none. (In a layout of work: not below max_labels if a factor
/// stays partial.)
constexpr int label_along(layout q, int m) { return static_cast<int>(q >> (8 * m + 3) & 31) - 1; }

constexpr int place_along(layout q, int m) { return static_cast<int>(q >> 8 * m & 7); }

/// The lowest bit of every byte that is partial: only that state has the three lowest bits set.
constexpr layout partial_marks(layout q) { return q & q >> 1 & q >> 2 & 0x01010101010101; }

/// The mesh axes whose bytes are marked.
constexpr mesh_set marked_axes(layout marks) {
  std::uint32_t bits = 0;
  for (int m = 0; marks >> 8 * m != 0; ++m)
    if ((marks >> 8 * m & 1) != 0) bits |= std::uint32_t{1} << m;
  return {bits};
}

/// The same sharding, replicated along a mesh axis; or along several.
constexpr layout without(layout q, int m) { return q & ~(layout{255} << 8 * m); }
constexpr layout without(layout q, mesh_set axes) {
  for (int m = 0; axes.bits >> m != 0; ++m)
    if ((axes.bits >> m & 1) != 0) q &= ~(layout{255} << 8 * m);
  return q;
}

constexpr layout layout_of(spec const& s) {
  layout q = 0;
  for (int m = 0; s.partial.bits >> m != 0; ++m)
    if (s.partial.contains(m)) q |= layout_along(m, axis_state::partial());
  for (int i = 0; i < s.rank; ++i) {
    int place = 0;
    for (std::uint32_t c = s.over[i].code; c != 0; c >>= 4)
      q |= static_cast<layout>((s.label[i] + 1) << 3 | place++) << 8 * ((c & 15) - 1);
  }
  return q;
}

/// The tensor of `shape` under another sharding.
[[gnu::cold]] constexpr spec spec_under(spec shape, layout q) {
  shape.partial = marked_axes(partial_marks(q));
  for (int i = 0; i < shape.rank; ++i) shape.over[i] = {};
  for (int m = 0; q >> 8 * m != 0; ++m)
    if (int const label = label_along(q, m); label >= 0) shape.over[shape.find(label)].set(place_along(q, m), m);
  return shape;
}

/// The mesh axes that split some label.
constexpr mesh_set split_axes(layout q) {
  mesh_set axes;
  for (int m = 0; q >> 8 * m != 0; ++m)
    if (int const label = label_along(q, m); label >= 0 && label < max_labels) axes.insert(m);
  return axes;
}

/// The number of blocks that the labels are divided into.
constexpr double blocks_of(layout q, extents const& e) {
  double n = 1;
  for (int m = 0; m < e.mesh_axes; ++m)
    if ((q >> (8 * m + 3) & 31) != 0) n *= static_cast<double>(e.mesh[m]);
  return n;
}

/// True if free slices take `from` to `to`. If all mesh axes that split a label have the same place in `to`, they are
/// the major end there.
constexpr bool is_slice(layout from, layout to, extents const& e) {
  if (partial_marks(from) != partial_marks(to)) return false;
  for (int m = 0; m < e.mesh_axes; ++m)
    if ((from >> 8 * m & 255) != 0 && ((from ^ to) >> 8 * m & 255) != 0) return false;
  return true;
}

/// The mesh axes that split a label, in order.
constexpr mesh_order order_on(layout q, int label, extents const& e) {
  std::uint32_t code = 0;
  for (int m = 0; m < e.mesh_axes; ++m)
    if (static_cast<int>(q >> (8 * m + 3) & 31) == label + 1)
      code |= static_cast<std::uint32_t>(m + 1) << 4 * static_cast<int>(q >> 8 * m & 7);
  return {code};
}

/// The number of mesh axes that split a label.
constexpr int splits_of(layout q, int label) {
  int n = 0;
  for (layout rest = q >> 3 & 0x1f1f1f1f1f1f1f; rest != 0; rest >>= 8)
    n += (rest & 31) == static_cast<layout>(label) + 1 ? 1 : 0;
  return n;
}

/// True if the mesh axis is the last to split its label.
constexpr bool is_minor_end(layout q, int m) {
  axis_state const s = state_of(q, m);
  return s.is_split() && s.place() + 1 == splits_of(q, s.label());
}

/// The byte of a mesh axis that splits a label after all that split it now.
constexpr layout at_minor_end(layout q, int label, int m) {
  return static_cast<layout>((label + 1) << 3 | splits_of(q, label)) << 8 * m;
}

/// The number to add to `q` so that mesh axis m splits a label at a place. Mesh axes from that place on move back by
/// one.
/// @pre nothing is split along m and the mesh axes after it
constexpr layout inserted(layout q, int label, int place, int m) {
  layout more = static_cast<layout>((label + 1) << 3 | place) << 8 * m;
  for (int k = 0; k < m; ++k)
    if (static_cast<int>(q >> (8 * k + 3) & 31) == label + 1 && static_cast<int>(q >> 8 * k & 7) >= place)
      more += layout{1} << 8 * k;
  return more;
}

}  // namespace ostraka::planner::detail
