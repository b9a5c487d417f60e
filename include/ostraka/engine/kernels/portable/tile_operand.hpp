// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What register tiles read of an operand's block: panels, packed into scratch memory or where they lie. To
/// pack costs about as much as to multiply by ten vectors, so that what meets few of them, or lies as well as a panel
/// would, stays where it is.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/portable/tile_panels.hpp>
#include <ostraka/engine/kernels/portable/micro_kernel.hpp>

namespace ostraka::engine::detail {

/// Rows up to which columns are not packed: each is read once a row of tiles, and fetched meanwhile.
inline constexpr std::int64_t rows_of_unpacked = 256;

/// Bytes between lines from which on each lies in a page of its own, and a panel is packed.
inline constexpr std::int64_t lines_far_apart = 1 << 17;

/// Half of a second cache of 2 MB.
inline constexpr std::int64_t places_of_lines = 1 << 20;

/// Do rows stay where they lie, if the sum takes such steps along them (0: no constant ones)?
inline bool rows_stay(std::int64_t k_step) { return k_step == 1; }

/// Do columns, if so many rows meet them and the lines of a panel, `depth` of them, do not take one another's place in
/// the second cache? Lines that are a multiple of a power of two apart have only so many places there.
template <class T>
bool columns_stay(std::int64_t rows, std::int64_t k_step, std::int64_t depth) {
  std::int64_t const apart = k_step * static_cast<std::int64_t>(sizeof(T)), power_of_two = apart & -apart;
  return k_step > 0 && rows <= rows_of_unpacked && apart < lines_far_apart && power_of_two * depth <= places_of_lines;
}

/// Element i of line l is from[at[i] + k_at[l]], i < count, l < depth. Panels are `width` elements wide, the last one
/// as many times `least` as it needs.
template <class T>
struct tile_operand {
  T const* from;
  std::int64_t const* at;
  int count;
  std::int64_t const* k_at;
  int depth;
  T* panels;
  int width, least;
  std::int64_t k_step = 0;   // from line to line where they lie; 0: all is packed
  bool side_by_side = false;  // elements that are not are packed

  /// Rows are read one by one, wherever they are, if the sum runs along them.
  void leave_rows() {
    if (rows_stay(step_of(k_at, depth))) k_step = 1;
  }

  /// Columns are read by vectors, side by side, as many times as there are rows of tiles.
  void leave_columns(std::int64_t rows) {
    side_by_side = true;
    std::int64_t const step = step_of(k_at, depth);
    if (columns_stay<T>(rows, step, depth)) k_step = step;
  }

  /// Does the panel that begins with element i stay where it lies?
  bool stays(int i) const { return step(i) != 0; }

  void pack() const {
    for (int i = 0; i < count; i += width) {
      int const here = std::min(width, count - i);
      if (!stays(i)) pack_panel(panels + i * depth, padded(here), from, at + i, here, k_at, depth);
    }
  }

  /// Of the panel that begins with element i.
  micro_lines<T> lines(int i) const {
    if (std::int64_t const apart = step(i); apart != 0) return {from + at[i] + k_at[0], apart, k_step};
    return {panels + i * depth, 1, count - i >= width ? width : padded(count - i)};
  }

 private:
  int padded(int elements) const { return (elements + least - 1) / least * least; }

  /// Between the elements of the panel that begins with element i, where they lie; 0 if it is packed.
  std::int64_t step(int i) const {
    int const here = std::min(width, count - i);
    if (k_step == 0 || (side_by_side && here > 1 && at[i + 1] != at[i] + 1) || here % least != 0) return 0;
    std::int64_t const apart = step_of(at + i, here);
    return side_by_side && apart != 1 ? 0 : apart;
  }
};

}  // namespace ostraka::engine::detail
