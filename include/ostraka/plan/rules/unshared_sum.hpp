// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. An axis that only one operand has, and the result lacks, would be summed on its own. That is rarely
/// intended: if a rename is forgotten, [B, M] · [N, H] → [B, H] is (Σ_M A)(Σ_N B). So an einsum of several operands
/// computes such a sum only with os::sum_over(N).
///
///     label is in                                 without os::sum_over    with it
///     one operand, not in the result              refused                 summed on its own
///     several operands, not in the result         summed together         refused
///     the result                                  kept                    refused
///     no operand                                                          nothing is done

#include <bit>
#include <cstdint>

#include <ostraka/plan/spec/spec.hpp>

namespace ostraka::planner {

/// A sum of one operand's label on its own, and the rename that would match it with the label of another operand.
struct unshared_sum {
  int label = -1;    ///< −1: there is no such sum
  int operand = -1;  ///< the operand that has the label
  int join = -1;     ///< the label to which it may be renamed; −1: no label of the same extent is summed
};

namespace detail {

// A label to which `of` may be renamed. Prefers a label that is also summed alone to one that is summed with others.
constexpr int label_to_join(label_set const* operands, int count, label_set kept, std::int64_t const* extents,
                            unshared_sum const& of, std::int64_t unknown) {
  int found = -1;
  bool found_alone = false;
  for (int k = 0; k < count; ++k) {
    if (k == of.operand) continue;
    label_set others = 0;
    for (int j = 0; j < count; ++j) others |= j == k ? 0 : operands[j];
    for (label_set rest = operands[k] & ~kept & ~operands[of.operand]; rest != 0; rest &= rest - 1) {
      int const l = std::countr_zero(rest);
      bool const alone = (others >> l & 1) == 0;
      if (found >= 0 && (found_alone || !alone)) continue;
      std::int64_t const a = extents[l];
      std::int64_t const b = extents[of.label];
      if (a != b && a != unknown && b != unknown) continue;
      found = l;
      found_alone = alone;
    }
  }
  return found;
}

}  // namespace detail

/// The first label that would be summed on its own without os::sum_over, in the last operand that has such a label: the
/// last one, because weights follow the tensors that they multiply. A single operand sums over any labels. `unknown`
/// marks an unknown extent.
[[nodiscard]] constexpr unshared_sum find_unshared_sum(label_set const* operands, int count, label_set result,
                                                       label_set asked, std::int64_t const* extents,
                                                       std::int64_t unknown = -1) {
  for (int k = count - 1; count > 1 && k >= 0; --k) {
    label_set others = result | asked;
    for (int j = 0; j < count; ++j) others |= j == k ? 0 : operands[j];
    label_set const alone = operands[k] & ~others;
    if (alone == 0) continue;
    unshared_sum found{std::countr_zero(alone), k, -1};
    found.join = detail::label_to_join(operands, count, result | asked, extents, found, unknown);
    return found;
  }
  return {};
}

/// The first label named in os::sum_over that is kept, or is in several operands; −1 if there is none.
[[nodiscard]] constexpr int find_wrong_sum_over(label_set const* operands, int count, label_set result,
                                                label_set asked) {
  label_set once = result;
  label_set twice = result;
  for (int k = 0; k < count; ++k) {
    twice |= once & operands[k];
    once |= operands[k];
  }
  label_set const wrong = twice & asked;
  return wrong == 0 ? -1 : std::countr_zero(wrong);
}

}  // namespace ostraka::planner
