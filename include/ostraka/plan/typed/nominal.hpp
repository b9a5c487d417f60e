// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The sizes for which plans are made if types do not give them. They are the same in every run and never the
/// actual sizes, so that a program's communication does not change with its input.
///
///     [B, S, F] · [F, D] → [B, S, D]     B = S = 64, F = D = 4096
///
/// Labels that occur in the same tensors are one index of the product, so they share one nominal extent. Then a product
/// of tensors is planned like the equivalent product of matrices, and the layers of the literature get the literature's
/// plans. If another index is known to be longer, the nominal one is as long as the longest: a layer whose weights have
/// static extents is planned for as many tokens as its longest index.

#include <cstdint>

#include <ostraka/plan/spec/spec.hpp>
#include <ostraka/plan/spec/step.hpp>
#include <ostraka/types/axes/axis.hpp>

namespace ostraka::planner {

inline constexpr std::int64_t nominal_extent = 4096;  ///< of all labels together that occur in the same tensors
inline constexpr std::int64_t nominal_mesh_size = 4;

/// Sizes for a plan in which extents do not depend on each other: nominal_extent for each unknown extent.
[[nodiscard]] constexpr extents nominal_sizes(extents e) {
  for (int l = 0; l < e.labels; ++l)
    if (e.label[l] == dynamic_extent) e.label[l] = nominal_extent;
  for (int m = 0; m < e.mesh_axes; ++m)
    if (e.mesh[m] == dynamic_extent) e.mesh[m] = nominal_mesh_size;
  return e;
}

/// Sizes for an einsum. An index is all labels that occur in the same tensors. Each unknown extent of an index gets the
/// same value: the largest power of two that leaves the index no longer than the longest known one, or than
/// nominal_extent; at least nominal_mesh_size.
[[nodiscard]] constexpr extents nominal_sizes(extents const& known, bounded_list<spec, max_operands> const& operands,
                                              spec const& result) {
  std::uint32_t tensors[max_labels]{};  // the tensors in which a label occurs
  for (int k = 0; k <= operands.count; ++k) {
    spec const& s = k == operands.count ? result : operands.item[k];
    for (int i = 0; i < s.rank; ++i) tensors[s.label[i]] |= std::uint32_t{1} << k;
  }
  // For each label's index: the product of its known extents, and the number of unknown ones.
  double product[max_labels]{};
  int unknown[max_labels]{};
  double longest = static_cast<double>(nominal_extent);
  for (int label = 0; label < known.labels; ++label) {
    double n = 1;
    for (int l = 0; l < known.labels; ++l) {
      if (tensors[l] != tensors[label]) continue;
      if (known.label[l] == dynamic_extent)
        ++unknown[label];
      else if (known.label[l] > 0)
        n *= static_cast<double>(known.label[l]);
    }
    product[label] = n;
    if (known.label[label] != dynamic_extent && n > longest) longest = n;
  }
  extents e = nominal_sizes(known);
  for (int label = 0; label < e.labels; ++label) {
    if (known.label[label] != dynamic_extent) continue;
    std::int64_t n = nominal_mesh_size;
    for (bool fits = true; fits; n *= fits ? 2 : 1) {
      double index = product[label];
      for (int i = 0; i < unknown[label]; ++i) index *= static_cast<double>(2 * n);
      fits = index <= longest;
    }
    e.label[label] = n;
  }
  return e;
}

}  // namespace ostraka::planner
