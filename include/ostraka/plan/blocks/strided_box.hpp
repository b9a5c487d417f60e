// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The layout of the elements of a box in memory, without a pointer: strided, or as a message of equal parts.
/// A[I, J] stored as (X, I, J/X) has two strides along J: from device to device, and within the part of one device.

#include <cstdint>

#include <ostraka/plan/blocks/box.hpp>
#include <ostraka/plan/spec/step.hpp>

namespace ostraka::planner {

/// Index k · unit along the dimension is k · stride further on in memory, if k counts the devices of one mesh axis.
struct device_stride {
  int dimension = 0;
  std::int64_t unit = 0;
  std::int64_t stride = 0;
};

/// A box, and the strides of its elements. In message layout, `stride` is the distance of neighbours within a part, and
/// `across` the distance from device to device.
struct strided_box {
  box where{};
  std::int64_t stride[max_rank]{};
  bounded_list<device_stride, max_mesh_axes> across{};

  /// The distance in memory of indices that are `unit` apart along dimension `i`.
  /// @pre one of `unit` and the dimension's units divides the other
  [[nodiscard]] constexpr std::int64_t step_of(int i, std::int64_t unit) const {
    std::int64_t known = 1;
    std::int64_t step = stride[i];
    for (device_stride const& d : across)
      if (d.dimension == i && d.unit <= unit && d.unit >= known) {
        known = d.unit;
        step = d.stride;
      }
    return unit / known * step;
  }

  /// The position of the first element of `inner`, counted from the first of this box; 0 for an empty box, which has no
  /// place.
  /// @pre inner is within this box, and this box is not in message layout
  [[nodiscard]] constexpr std::int64_t offset_of(box const& inner) const {
    std::int64_t n = 0;
    if (inner.size() == 0) return n;
    for (int i = 0; i < inner.rank; ++i) n += (inner.at[i].begin - where.at[i].begin) * stride[i];
    return n;
  }

  /// The part of the box within `inner`, which begins at `offset_of(inner)`.
  /// @pre the precondition of offset_of
  [[nodiscard]] constexpr strided_box part(box const& inner) const;

  /// True if the elements are contiguous, in the order of their indices.
  [[nodiscard]] constexpr bool gapless() const {
    std::int64_t dense = 1;
    for (int i = where.rank - 1; i >= 0; --i) {
      std::int64_t const n = where.at[i].size();
      if (n > 1 && stride[i] != dense) return false;
      dense *= n;
    }
    return across.empty();
  }
};

/// A row-major layout without gaps.
[[nodiscard]] constexpr strided_box dense(box const& where) {
  strided_box b{where};
  std::int64_t step = 1;
  for (int i = where.rank - 1; i >= 0; --i) {
    b.stride[i] = step;
    step *= where.at[i].size();
  }
  return b;
}

[[gnu::cold]] constexpr strided_box strided_box::part(box const& inner) const {
  if (inner.size() == 0) return dense(inner);
  strided_box b{inner};
  for (int i = 0; i < inner.rank; ++i) b.stride[i] = stride[i];
  return b;
}

/// The same elements with the dimensions in the order of `to`'s labels.
/// @pre both have the same labels
[[nodiscard]] constexpr strided_box reordered(strided_box const& b, spec const& from, spec const& to) {
  strided_box r = b;
  for (int i = 0; i < from.rank; ++i) {
    int const at = to.find(from.label[i]);
    r.stride[at] = b.stride[i];
    r.where.at[at] = b.where.at[i];
  }
  for (int k = 0; k < r.across.size(); ++k) r.across[k].dimension = to.find(from.label[r.across[k].dimension]);
  return r;
}

/// One loop over the devices of a message: those of a mesh axis are `unit` indices apart along the dimension.
struct device_loop {
  int dimension = 0;
  int mesh_axis = 0;
  std::int64_t unit = 0;
};

using device_loops = bounded_list<device_loop, max_mesh_axes>;

/// The layout of a box as a message of equal parts with these loops over devices, one part after the other. Members of
/// a group count their mesh axes in ascending `order`, the first one major: the numbers of the axes in the running
/// mesh.
[[nodiscard, gnu::cold]] constexpr strided_box as_message(box const& where, device_loops const& loops, int const* order,
                                                          extents const& e) {
  box part = where;
  for (device_loop const& d : loops) part.at[d.dimension] = {0, d.unit};  // the innermost loop comes last
  strided_box b = dense(part);
  std::int64_t const elements = part.size();
  b.where = where;
  for (device_loop const& d : loops) {
    std::int64_t members = 1;  // distance in members from one device of the mesh axis to the next
    for (device_loop const& minor : loops)
      if (order[minor.mesh_axis] > order[d.mesh_axis]) members *= e.mesh[minor.mesh_axis];
    b.across.push_back({d.dimension, d.unit, members * elements});
  }
  return b;
}

}  // namespace ostraka::planner
