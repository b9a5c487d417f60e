// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A block as rows, with optional tensors aligned with it: a mask, where 0 hides an element, and a gain and a
/// bias for each element of a row.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/rows/row_layout.hpp>
#include <ostraka/engine/kernels/rows/row_statistics.hpp>
#include <ostraka/types/support/reason.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

/// The offsets, in another tensor, of the elements that belong to the elements of rows: by the dimensions before and
/// after the rows' dimension.
struct row_places {
  int rank = 0, along = 0;
  std::int64_t extent[max_rank]{}, stride[max_rank]{};

  /// Returns the offset of the element that belongs to the first element of a row.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t first(std::int64_t outer, std::int64_t inner) const {
    std::int64_t at = 0;
    for (int d = rank - 1; d > along; --d) {
      at += inner % extent[d] * stride[d];
      inner /= extent[d];
    }
    for (int d = along - 1; d >= 0; --d) {
      at += outer % extent[d] * stride[d];
      outer /= extent[d];
    }
    return at;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t step() const { return stride[along]; }
};

/// No mask.
struct no_mask {};

/// A block of X as rows, with an optional mask. Mask: the type of a mask's elements; 0 hides.
template <class X, class Mask = no_mask>
struct rows_of_block {
  using number = accumulator_of_t<X>;
  static constexpr bool masked = !std::is_same_v<Mask, no_mask>, buffered = masked || is_narrow<X>;

  row_layout rows;
  X const* x;
  Mask const* mask = nullptr;
  row_places mask_at{};

  /// Returns element k of a row.
  KOKKOS_INLINE_FUNCTION number element(std::int64_t row, std::int64_t k) const {
    auto const value = static_cast<number>(x[rows.first(row) + k * rows.step]);
    if constexpr (masked)
      if (mask[mask_at.first(row / rows.step, row % rows.step) + k * mask_at.step()] == Mask(0))
        return detail::minus_infinity<number>;
    return value;
  }
};

/// Stands for a missing gain or bias.
struct no_vector {};

}  // namespace ostraka::engine
