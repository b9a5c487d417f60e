// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The layouts of the blocks of one operation, by label: A[I, J] and C[K, I] have I in common, at different
/// positions. The labels of three such blocks define their contraction.

#include <cstdint>
#include <initializer_list>

#include <ostraka/plan/blocks/contraction_problem.hpp>
#include <ostraka/plan/blocks/strided_block.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::planner {

/// Dimensions with labels.
struct labelled : strided {
  int label[max_loops] = {};

  /// Adds an innermost dimension; call `close_gaps` to set the strides.
  constexpr labelled& add(int l, std::int64_t n) {
    label[rank] = l;
    strided::add(n, 0);
    return *this;
  }
  constexpr labelled& close_gaps() {
    strided::close_gaps();
    return *this;
  }

  /// The dimension of a label, or −1.
  [[nodiscard]] constexpr int find(int l) const {
    for (int d = 0; d < rank; ++d)
      if (label[d] == l) return d;
    return -1;
  }
  [[nodiscard]] constexpr bool has(int l) const { return find(l) >= 0; }
  [[nodiscard]] constexpr std::int64_t extent_of(int l) const { return has(l) ? extent[find(l)] : 1; }
  [[nodiscard]] constexpr std::int64_t stride_of(int l) const { return has(l) ? stride[find(l)] : 0; }

  /// The same dimensions, dense, with the extent of one changed.
  /// @pre it has the label
  [[nodiscard]] constexpr labelled with(int l, std::int64_t n) const {
    labelled other = *this;
    other.extent[find(l)] = n;
    return other.close_gaps();
  }
  /// The other dimensions, with their strides.
  [[nodiscard]] constexpr labelled without(int l) const {
    labelled other;
    for (int d = 0; d < rank; ++d) {
      if (label[d] == l) continue;
      other.add(label[d], extent[d]);
      other.stride[other.rank - 1] = stride[d];
    }
    return other;
  }
  /// The part at these indices of a label; `offset_of` returns where it begins.
  /// @pre it has the label
  [[nodiscard]] constexpr labelled part(int l, range r) const {
    labelled inner = *this;
    inner.extent[find(l)] = r.size();
    return inner;
  }
  [[nodiscard]] constexpr std::int64_t offset_of(int l, range r) const { return r.begin * stride_of(l); }

  /// The same elements with the dimensions of another block, whose labels this one has.
  [[nodiscard]] constexpr strided in_order_of(labelled const& other) const {
    strided s;
    for (int d = 0; d < other.rank; ++d) s.add(extent_of(other.label[d]), stride_of(other.label[d]));
    return s;
  }
  [[nodiscard]] constexpr bool has_layout_of(labelled const& other) const {
    bool same = rank == other.rank;
    for (int d = 0; same && d < rank; ++d) same = label[d] == other.label[d] && stride[d] == other.stride[d];
    return same;
  }
};

/// A block in memory whose dimensions have labels.
template <class T>
using labelled_block = strided_block<T*, labelled>;

/// A dense block with the labels of `s`.
[[nodiscard]] constexpr labelled row_major(spec const& s, std::int64_t const* extents) {
  labelled b;
  for (int i = 0; i < s.rank; ++i) b.add(s.label[i], extents[i]);
  return b.close_gaps();
}

/// The loops of C <- A B for blocks with these layouts. A label that no block has is a loop of one.
[[nodiscard]] constexpr contraction contraction_of(labelled const& a, labelled const& b, labelled const& c) {
  contraction p;
  for (std::int64_t& n : p.extent) n = 1;
  labelled const* const blocks[] = {&a, &b, &c};
  for (operand const o : {operand::a, operand::b, operand::c}) {
    labelled const& lies = *blocks[static_cast<int>(o)];
    for (int d = 0; d < lies.rank; ++d) {
      int const l = lies.label[d];
      presence_of(p, o)[l] = true;
      strides_of(p, o)[l] = lies.stride[d];
      p.extent[l] = lies.extent[d];
      if (p.labels <= l) p.labels = l + 1;
    }
  }
  return p;
}

}  // namespace ostraka::planner
