// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The sharding of a tensor as a small value: its labels in order, the mesh axes that split each, the mesh
/// axes along which it is partial, and the reduction that combines the parts. Labels and mesh axes are numbers here:
/// A[I_X, J] {U_Y} is {rank 2, (0 over 0), (1), partial {1}}.
///
/// Planners call these functions some ten thousand times per einsum at compile time. A call costs the compiler more
/// than the arithmetic in it. So the functions are single expressions where possible and do not call each other in
/// loops.

#include <cstdint>

#include <ostraka/types/support/reason.hpp>
#include <ostraka/types/values/reduction.hpp>

namespace ostraka::planner {

inline constexpr int max_labels = 16;    ///< distinct labels of one einsum
inline constexpr int max_mesh_axes = 7;  ///< mesh axes of one operation
inline constexpr int max_operands = 8;   ///< tensors of one operation

/// A set of labels: bit l is label l.
using label_set = std::uint32_t;

/// A set of mesh axes.
struct mesh_set {
  std::uint32_t bits = 0;

  [[nodiscard]] static constexpr mesh_set of(int axis) { return {std::uint32_t{1} << axis}; }
  [[nodiscard]] static constexpr mesh_set first(int count) { return {(std::uint32_t{1} << count) - 1}; }
  [[nodiscard]] constexpr bool contains(int axis) const { return (bits >> axis & 1) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits == 0; }
  [[nodiscard]] constexpr int count() const {
    int n = 0;
    for (std::uint32_t rest = bits; rest != 0; rest &= rest - 1) ++n;
    return n;
  }
  constexpr void insert(int axis) { bits |= std::uint32_t{1} << axis; }

  friend constexpr mesh_set operator|(mesh_set a, mesh_set b) { return {a.bits | b.bits}; }
  friend constexpr mesh_set operator&(mesh_set a, mesh_set b) { return {a.bits & b.bits}; }
  friend constexpr mesh_set operator-(mesh_set a, mesh_set b) { return {a.bits & ~b.bits}; }
  friend constexpr bool operator==(mesh_set, mesh_set) = default;
};

/// The mesh axes that divide one label, major first: I/X/Y is (X, Y). Each axis takes one nibble, the major one lowest,
/// so that comparing and copying cost the compiler a single step.
struct mesh_order {
  std::uint32_t code = 0;

  [[nodiscard]] constexpr int size() const {
    return (code > 0 ? 1 : 0) + (code > 0xf ? 1 : 0) + (code > 0xff ? 1 : 0) + (code > 0xfff ? 1 : 0) +
           (code > 0xffff ? 1 : 0) + (code > 0xfffff ? 1 : 0) + (code > 0xffffff ? 1 : 0);
  }
  [[nodiscard]] constexpr bool empty() const { return code == 0; }
  [[nodiscard]] constexpr int operator[](int i) const { return static_cast<int>(code >> 4 * i & 15) - 1; }

  /// The position of an axis; −1 if it is absent.
  [[nodiscard]] constexpr int find(int axis) const {
    int i = 0;
    for (std::uint32_t c = code; c != 0; c >>= 4, ++i)
      if (static_cast<int>(c & 15) == axis + 1) return i;
    return -1;
  }

  constexpr void push_back(int axis) { set(size(), axis); }

  /// Puts `axis` at place `i`.
  /// @pre the place is empty
  constexpr void set(int i, int axis) { code |= static_cast<std::uint32_t>(axis + 1) << 4 * i; }

  /// Inserts `axis` before position `i`.
  constexpr void insert(int i, int axis) {
    std::uint32_t const low = (std::uint32_t{1} << 4 * i) - 1;
    code = (code & low) | static_cast<std::uint32_t>(axis + 1) << 4 * i | (code & ~low) << 4;
  }

  /// Removes position `i`.
  constexpr void erase(int i) {
    std::uint32_t const low = (std::uint32_t{1} << 4 * i) - 1;
    code = (code & low) | (code >> 4 & ~low);
  }

  [[nodiscard]] constexpr mesh_set axes() const {
    std::uint32_t bits = 0;
    for (std::uint32_t c = code; c != 0; c >>= 4) bits |= std::uint32_t{1} << (c & 15);
    return {bits >> 1};
  }

  /// True if `prefix` is the major end of this order.
  [[nodiscard]] constexpr bool starts_with(mesh_order prefix) const {
    return (code & ((std::uint32_t{1} << 4 * prefix.size()) - 1)) == prefix.code;
  }

  /// The axes after the first `count`.
  [[nodiscard]] constexpr mesh_order after(int count) const { return {code >> 4 * count}; }

  friend constexpr bool operator==(mesh_order, mesh_order) = default;
};

/// The length of the common major end.
[[nodiscard]] constexpr int common_prefix(mesh_order a, mesh_order b) {
  std::uint32_t const differ = a.code ^ b.code;  // also differs if one order is longer
  if (differ == 0) return a.size();
  int n = 0;
  while ((differ >> 4 * n & 15) == 0) ++n;
  return n;
}

/// The sharding of one tensor. @invariant no label twice, no mesh axis twice (split or partial).
struct spec {
  int rank = 0;
  std::int8_t label[max_rank]{};  ///< small: a program stores several specs for each operation
  mesh_order over[max_rank]{};
  mesh_set partial{};
  reduction kind = reduction::sum;  ///< combines the parts along `partial`; unused if that is empty

  constexpr void push_back(int l, mesh_order o = {}) {
    label[rank] = static_cast<std::int8_t>(l);
    over[rank] = o;
    ++rank;
  }

  /// The position of the label; −1 if the tensor lacks it.
  [[nodiscard]] constexpr int find(int l) const {
    for (int i = 0; i < rank; ++i)
      if (label[i] == l) return i;
    return -1;
  }

  /// The mesh axes that divide some label.
  [[nodiscard]] constexpr mesh_set splits() const {
    std::uint32_t bits = 0;
    for (int i = 0; i < rank; ++i)
      for (std::uint32_t c = over[i].code; c != 0; c >>= 4) bits |= std::uint32_t{1} << (c & 15);
    return {bits >> 1};
  }

  /// The mesh axes along which devices hold different elements or parts. The tensor is replicated along the others.
  [[nodiscard]] constexpr mesh_set uses() const { return splits() | partial; }

  friend constexpr bool operator==(spec const& a, spec const& b) {
    if (a.rank != b.rank || a.partial.bits != b.partial.bits) return false;
    if (a.kind != b.kind && a.partial.bits != 0) return false;
    for (int i = 0; i < a.rank; ++i)
      if (a.label[i] != b.label[i] || a.over[i].code != b.over[i].code) return false;
    return true;
  }
};

/// True if both have their labels in the same order.
[[nodiscard]] constexpr bool same_order(spec const& a, spec const& b) {
  for (int i = 0; i < a.rank; ++i)
    if (a.label[i] != b.label[i]) return false;
  return a.rank == b.rank;
}

/// The same sharding with the labels in the order of `like`.
/// @pre both have the same labels
[[nodiscard]] constexpr spec reordered(spec const& s, spec const& like) {
  if (same_order(s, like)) return s;
  spec r = s;
  for (int i = 0; i < s.rank; ++i) {
    r.label[i] = like.label[i];
    r.over[i] = s.over[s.find(like.label[i])];
  }
  return r;
}

/// One of several passes over a label (plan/workspace/passes.hpp). It covers part `part` of `parts` of the label's
/// indices, or of each block's indices.
struct pass {
  int label = -1;  ///< none: all indices of all labels
  bool of_each_block = true;
  std::int64_t part = 0;
  std::int64_t parts = 1;

  friend constexpr bool operator==(pass const&, pass const&) = default;
};

/// Global extents of labels and sizes of mesh axes.
struct extents {
  int labels = 0;
  int mesh_axes = 0;
  std::int64_t label[max_labels];
  std::int64_t mesh[max_mesh_axes];
  pass now{};  ///< blocks are restricted to this pass

  constexpr extents() : label{}, mesh{} {}
  /// The extents of a running operation, which writes them one by one, because clearing all members would take a fifth
  /// of its time.
  extents(int of_labels, int of_mesh_axes) : labels(of_labels), mesh_axes(of_mesh_axes) {}

  /// The number of devices along a set of mesh axes.
  [[nodiscard]] constexpr std::int64_t ways(mesh_set s) const {
    std::int64_t n = 1;
    for (int m = 0; m < mesh_axes; ++m)
      if ((s.bits >> m & 1) != 0) n *= mesh[m];
    return n;
  }
  [[nodiscard]] constexpr std::int64_t ways(mesh_order o) const {
    std::int64_t n = 1;
    for (std::uint32_t c = o.code; c != 0; c >>= 4) n *= mesh[(c & 15) - 1];
    return n;
  }
  [[nodiscard]] constexpr std::int64_t devices() const { return ways(mesh_set::first(mesh_axes)); }

  friend constexpr bool operator==(extents const& a, extents const& b) {
    if (a.labels != b.labels || a.mesh_axes != b.mesh_axes) return false;
    for (int l = 0; l < a.labels; ++l)
      if (a.label[l] != b.label[l]) return false;
    for (int m = 0; m < a.mesh_axes; ++m)
      if (a.mesh[m] != b.mesh[m]) return false;
    return a.now == b.now;
  }

  /// The number of elements of the whole tensor.
  [[nodiscard]] constexpr std::int64_t whole(spec const& s) const {
    std::int64_t n = 1;
    for (int i = 0; i < s.rank; ++i) n *= label[s.label[i]];
    return n;
  }
};

}  // namespace ostraka::planner
