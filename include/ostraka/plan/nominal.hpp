// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The sizes that plans are made for where types do not tell: the same for everyone, never the sizes at hand, so that a program's
/// communication does not change with its input.
///
///     [B, S, F] · [F, D] → [B, S, D]     B = S = 64, F = D = 4096
///
/// Labels that occur in the same tensors are one index of the product, so they share one nominal extent: then a product of tensors is
/// planned like that of the matrices that it is, and the layers of the literature get the literature's plans. Where other indices are known
/// to be longer, it is as long as the longest: a layer whose weights have static extents is planned for as many tokens.

#include <cstdint>

#include <ostraka/plan/spec.hpp>
#include <ostraka/plan/step.hpp>
#include <ostraka/types/axis.hpp>

namespace ostraka::planner {

inline constexpr std::int64_t nominal_extent = 4096;  ///< of all labels together that occur in the same tensors
inline constexpr std::int64_t nominal_mesh_size = 4;

/// Sizes for a plan in which extents do not matter to each other: nominal_extent for each that is not known.
[[nodiscard]] constexpr extents nominal_sizes(extents e) {
  for (int l = 0; l < e.labels; ++l)
    if (e.label[l] == dynamic_extent) e.label[l] = nominal_extent;
  for (int m = 0; m < e.mesh_axes; ++m)
    if (e.mesh[m] == dynamic_extent) e.mesh[m] = nominal_mesh_size;
  return e;
}

/// Sizes for an einsum. An index is all labels that occur in the same tensors. What is not known of one is, for each label alike, the largest power
/// of two with which the index is no longer than the longest that is known, or than nominal_extent; at least nominal_mesh_size.
[[nodiscard]] constexpr extents nominal_sizes(extents const& known, bounded_list<spec, max_operands> const& operands, spec const& result) {
  std::uint32_t tensors[max_labels]{};  // that a label occurs in
  std::uint32_t tensor = 1;
  auto const enter = [&](spec const& s) {
    for (int i = 0; i < s.rank; ++i) tensors[s.label[i]] |= tensor;
    tensor <<= 1;
  };
  for (spec const& s : operands) enter(s);
  enter(result);
  // The extent of a label's index if what is not known is so long.
  auto const together = [&](int label, std::int64_t unknown) {
    double n = 1;
    for (int l = 0; l < known.labels; ++l)
      if (tensors[l] == tensors[label]) n *= static_cast<double>(known.label[l] == dynamic_extent ? unknown : known.label[l] > 0 ? known.label[l] : 1);
    return n;
  };
  double longest = static_cast<double>(nominal_extent);
  for (int l = 0; l < known.labels; ++l)
    if (known.label[l] != dynamic_extent && together(l, 1) > longest) longest = together(l, 1);
  extents e = nominal_sizes(known);
  for (int l = 0; l < e.labels; ++l)
    if (known.label[l] == dynamic_extent)
      for (e.label[l] = nominal_mesh_size; together(l, 2 * e.label[l]) <= longest;) e.label[l] *= 2;
  return e;
}

}  // namespace ostraka::planner
