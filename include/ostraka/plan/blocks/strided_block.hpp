// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A block: the place of its first element, and the layout of all elements from there. CuTe's tensors are an
/// iterator and a layout; likewise a block is a place and a layout:
///
///     strided_block<T*>           elements in memory
///     strided_block<place>        elements in a buffer of a schedule, which has a number and no address
///     strided_block<int64_t>      elements of another block: the place is counted from its beginning

#include <ostraka/plan/blocks/strided_box.hpp>

namespace ostraka::planner {

/// `Place` is a type to which a number of elements can be added.
template <class Place, class Layout = strided_box>
struct strided_block : Layout {
  Place data{};

  /// The part of the block at part `which` of the layout.
  /// @pre the precondition of the layout's `part`
  template <class... Which>
  [[nodiscard]] constexpr strided_block part(Which const&... which) const {
    return {Layout::part(which...), data + Layout::offset_of(which...)};
  }
};

/// The elements of a box without gaps, from `data` on.
template <class Place>
[[nodiscard]] constexpr strided_block<Place> dense_block(Place data, box const& where) {
  return {dense(where), data};
}

}  // namespace ostraka::planner
