// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The lines of an operand's block that register tiles read: panels, packed into scratch memory or left in the
/// operand. Rows along which the sum runs are left in the operand, because a tile reads them one element at a time;
/// columns are packed, because a tile reads them as vectors, line by line.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/portable/micro_kernel.hpp>
#include <ostraka/engine/kernels/portable/tile_panels.hpp>

namespace ostraka::engine::detail {

/// True if rows stay in the operand, for a sum with the step `k_step` along them (0: not constant).
inline bool rows_stay(std::int64_t k_step) { return k_step == 1; }

/// Element i of line l is from[at[i] + k_at[l]], i < count, l < depth. Panels are `width` elements wide; the width of
/// the last one is a multiple of `least`.
template <class T>
struct tile_operand {
  T const* from;
  std::int64_t const* at;
  int count;
  std::int64_t const* k_at;
  int depth;
  T* panels;
  int width, least;
  bool may_stay = false;

  /// Leaves rows in the operand, where they are read one by one, if the sum runs along them.
  void skip_packing_rows() { may_stay = rows_stay(step_of(k_at, depth)); }

  void pack() const {
    for (int i = 0; i < count; i += width) {
      int const here = std::min(width, count - i);
      if (step(i) == 0) pack_panel(panels + i * depth, padded(here), from, at + i, here, k_at, depth);
    }
  }

  /// Returns the lines of the panel that begins with element i.
  micro_lines<T> lines(int i) const {
    if (std::int64_t const apart = step(i); apart != 0) return {from + at[i] + k_at[0], apart, 1};
    return {panels + i * depth, 1, count - i >= width ? width : padded(count - i)};
  }

 private:
  int padded(int elements) const { return (elements + least - 1) / least * least; }

  /// Returns the step between the elements of the panel that begins with element i, in the operand; 0 if it is packed.
  std::int64_t step(int i) const {
    int const here = std::min(width, count - i);
    return may_stay && here % least == 0 ? step_of(at + i, here) : 0;
  }
};

}  // namespace ostraka::engine::detail
