// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The kinds of actions, other than copies and fills, that the schedules of a plan may hold for any extents.
/// They are known at compile time, so that a program contains only the parts of the engine that its plans need. A move
/// becomes a message of its own kind, or no message. A contraction of one tensor is a reduction. The labels of a
/// product are those of the operands.
///
///     C[I, K] <- A[I_X, J] B[J, K]      all_gather, contract   gathers, products
///     C[B, I] <- A[B, I, J] B[B, I]     contract               products of the kinds batches, unshared_labels,
///                                                              unsummed, shared_blocks

#include <ostraka/plan/spec/step.hpp>

namespace ostraka::planner {

/// Kinds of actions in schedules, as bits.
namespace kinds {
inline constexpr unsigned gathers = 1;
inline constexpr unsigned reduces_all = 2;
inline constexpr unsigned scatters = 4;
inline constexpr unsigned exchanges = 8;
inline constexpr unsigned folds = 16;
inline constexpr unsigned rings = 32;     ///< contractions whose messages are exchanges
inline constexpr unsigned products = 64;  ///< contractions of two tensors, of the following kinds or others

inline constexpr unsigned batches = 128;          ///< products with a label in both operands and the result
inline constexpr unsigned unshared_labels = 256;  ///< products with a label in one operand alone
inline constexpr unsigned unsummed = 512;         ///< products without a summed label that both operands have
inline constexpr unsigned shared_blocks = 1024;   ///< products whose operands have two labels in common, or batches

inline constexpr unsigned all = 2047;
/// The kinds that the moves of a tensor may have.
inline constexpr unsigned moves = gathers | reduces_all | scatters | exchanges;
/// The kinds that lowering has functions for.
inline constexpr unsigned lowered = gathers | reduces_all | scatters | exchanges | rings;
}  // namespace kinds

/// The kinds of the messages of a step.
[[nodiscard]] constexpr unsigned kinds_of(step s) {
  switch (s) {
    case step::all_gather:
      return kinds::gathers;
    case step::all_reduce:
      return kinds::reduces_all;
    case step::reduce_scatter:
      return kinds::scatters;
    case step::all_to_all:
    case step::block_exchange:
      return kinds::exchanges;
    case step::ring_contraction:
      return kinds::rings;
    default:
      return 0;
  }
}

/// The member of a table for the moves and messages of a step.
template <class Table>
[[nodiscard]] constexpr auto const& of_kind(Table const& table, step s) {
  switch (s) {
    case step::all_gather:
      return table.gather;
    case step::all_reduce:
      return table.all_reduce;
    case step::reduce_scatter:
      return table.scatter;
    default:
      return table.exchange;
  }
}

/// The kinds of products of two tensors, by their labels. A plan of more operands has intermediates, which may lack
/// labels that are summed.
[[nodiscard]] constexpr unsigned kinds_of_products(list_view<spec> operands, spec const& result) {
  if (operands.size() < 2) return 0;
  if (operands.size() > 2)
    return kinds::products | kinds::batches | kinds::unshared_labels | kinds::unsummed | kinds::shared_blocks;
  unsigned some = kinds::products | kinds::unsummed;
  int in_common = 0;
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < operands[k].rank; ++i) {
      bool const in_other = operands[1 - k].find(operands[k].label[i]) >= 0;
      bool const in_result = result.find(operands[k].label[i]) >= 0;
      in_common += in_other ? 1 : 0;
      if (in_other && in_result) some |= kinds::batches | kinds::shared_blocks;
      if (in_other && !in_result) some &= ~kinds::unsummed;
      if (!in_other && !in_result) some |= kinds::unshared_labels;
    }
  return in_common > 2 ? some | kinds::shared_blocks : some;  // each common label was counted twice
}

/// The kinds of a plan.
template <class Plan>
[[nodiscard]] constexpr unsigned kinds_of(Plan const& plan) {
  unsigned some = kinds_of_products(plan.operands, *plan.result);
  for (int i = 0; i < plan.steps.size(); ++i) {
    some |= kinds_of(plan.steps[i].kind);
    if (contracts(plan.steps[i].kind) && plan.steps[i].right == no_tensor) some |= kinds::folds;
  }
  return some;
}

}  // namespace ostraka::planner
