// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The tensors that change the scores of an attention (score_options.hpp): checks of their axes and elements,
/// and how they are passed to the engine. Each is matched with the scores by the names of its axes:
///
///     scores [B, H_Y, Q_X, K]     bias [H_Y, Q_X, K], [H, K], …   slopes, sinks [H_Y], [H], [B, H], …
///                                 numbers of documents [B, Q_X] and [B, K]; positions [B]

#include <type_traits>

#include <ostraka/engine/sequences/score_pairs.hpp>
#include <ostraka/operations/attention/score_options.hpp>

namespace ostraka::detail {

/// The properties of an attention's options, other than their tensors, that are part of its type.
struct score_traits {
  bool has_cap = false, is_striped = false;
};

template <class Option>
inline constexpr bool is_striped = false;
template <class... Ms>
inline constexpr bool is_striped<striped_over<Ms...>> = true;

template <class Operation, class Q, class K, class Scores, score_operand Kind, class T>
consteval auto check_score_operand() {
  using mismatch = reason::score_operand_sharding_mismatch<sharding_in<T>, sharding_in<Scores>, Operation>;
  constexpr bool has_query = position_in<Q, axes_in<T>> >= 0, has_key = position_in<K, axes_in<T>> >= 0;
  constexpr bool of_rows =
      Kind == score_operand::slopes || Kind == score_operand::sinks || Kind == score_operand::positions;
  if constexpr (Kind == score_operand::mask)
    return found<mask_verdict<Operation, Scores, T>>{};
  else if constexpr ((of_rows && (has_query || has_key)) || (Kind == score_operand::query_segments && has_key) ||
                     (Kind == score_operand::key_segments && has_query))
    return found<mismatch>{};
  else if constexpr (!std::is_same_v<row_operand_verdict<Operation, Scores, T>, reason::ok>)
    return found<mismatch>{};
  else if constexpr (Kind == score_operand::sinks)  // multiplies the weights, which then vary as both do
    return found<reason::ok>{};
  else  // any other division is allowed; it is added to the scores in place
    return found<target_verdict<Scores, T>>{};
}

template <class Operation, score_operand Kind, class TQ, class T>
consteval auto check_score_elements() {
  if constexpr (Kind == score_operand::bias || Kind == score_operand::slopes || Kind == score_operand::sinks)
    return found<first_fault<elements_verdict<TQ, T>, whole_values_verdict<Operation, T>>>{};
  else
    return found<reason::ok>{};
}

/// Converts a tensor of the scores to the elements that the engine reads.
template <score_operand Kind, class T>
auto as_score_operand(T const& a) {
  if constexpr (Kind == score_operand::bias || Kind == score_operand::slopes || Kind == score_operand::sinks)
    return widened(a);
  else
    return a;
}

/// Puts a tensor, aligned with the scores, into the rule. Masks are read elsewhere.
template <score_operand Kind, class T, class Aligned>
void add_to_rule(engine::score_rule<T>& rule, Aligned const& met) {
  if constexpr (Kind == score_operand::bias)
    rule.bias = met;
  else if constexpr (Kind == score_operand::slopes)
    rule.slopes = met;
  else if constexpr (Kind == score_operand::sinks)
    rule.sinks = met;
  else if constexpr (Kind == score_operand::query_segments)
    rule.query_segments = met;
  else if constexpr (Kind == score_operand::key_segments)
    rule.key_segments = met;
  else if constexpr (Kind == score_operand::positions)
    rule.positions = met;
}

}  // namespace ostraka::detail
