// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Options of attention that hide pairs of queries and keys, or add to a score before the softmax. One
/// function changes the scores (engine/sequences/score_pairs.hpp), by global indices:
///
///     os::window(w)                   |query − key| < w
///     os::window(w).and_first(f)      or key < f: the first keys stay visible (StreamingLLM)
///     os::segments(q_ids, k_ids)      a query sees keys of its own document
///     os::soft_cap(c)                 c · tanh(score / c), before a bias is added
///     os::bias(b)                     + b, along any axes of the scores; has a derivative
///     os::alibi(slopes)               − slope · |query − key|
///     os::sinks(logits)               exp(logit) more in the divisor of the weights; has a derivative
///     os::from_positions(t)           query i of row b has position t[b] + i (indices/pages.hpp)

#include <cstdint>
#include <limits>
#include <type_traits>

#include <ostraka/elements/cast.hpp>
#include <ostraka/operations/attention/whole_scores.hpp>
#include <ostraka/operations/indices/pages.hpp>
#include <ostraka/plan/attention/seen_positions.hpp>

namespace ostraka {

namespace detail {

/// The meaning of a tensor that follows the operands of an attention.
enum class score_operand : std::uint8_t { mask, bias, slopes, sinks, query_segments, key_segments, positions };

/// A tensor among the options, and its meaning.
template <score_operand Kind, class T>
struct score_tensor {
  T tensor;
};

}  // namespace detail

/// An option of os::attention: hides keys at a distance of `size` or more.
struct attention_window {
  std::int64_t size;
  std::int64_t first = 0;  ///< number of keys at the start of the sequence that stay visible

  /// The same, but a query also sees the first `keys` keys, at any distance (StreamingLLM's sinks).
  [[nodiscard]] constexpr attention_window and_first(std::int64_t keys) const { return {size, keys}; }
};

/// A sliding window: a query sees keys at a distance below `size`. With os::causal these are `size` keys, its own
/// included, as for `sliding_window` of transformers; without it, 2 size − 1. Blocks of keys that no query sees are
/// skipped.
[[nodiscard]] constexpr attention_window window(std::int64_t size) { return {size}; }

/// The type of os::soft_cap(c).
struct score_cap {
  double value;
};

/// An option of os::attention: scores s become c · tanh(s / c), before a bias or a mask (Gemma 2). With c = ∞, nothing
/// is capped.
[[nodiscard]] constexpr score_cap soft_cap(double c) { return {c}; }

/// The type of os::segments(q_ids, k_ids).
template <class TQ, class TK>
struct document_segments {
  TQ of_queries;
  TK of_keys;
};

/// Packed documents, an option of os::attention: a query sees the keys with its own document number. The numbers are
/// integers along any axes of queries, or of keys.
template <Tensor TQ, Tensor TK>
[[nodiscard]] constexpr document_segments<TQ, TK> segments(TQ const& of_queries, TK const& of_keys) {
  return {of_queries, of_keys};
}

/// An option of os::attention: adds this tensor to the scores. It has any of their axes: T5's relative positions [H, Q,
/// K], for example.
template <TensorOrVariable T>
[[nodiscard]] constexpr detail::score_tensor<detail::score_operand::bias, T> bias(T const& added) {
  return {added};
}

/// An option of os::attention: subtracts slope · |query − key| from the scores (ALiBi). The slopes have no derivative.
template <TensorOrVariable T>
[[nodiscard]] constexpr detail::score_tensor<detail::score_operand::slopes, T> alibi(T const& slopes) {
  return {slopes};
}

/// An option of os::attention: for each head, the score of a key without a value (gpt-oss). It only adds to the divisor
/// of the softmax.
template <TensorOrVariable T>
[[nodiscard]] constexpr detail::score_tensor<detail::score_operand::sinks, T> sinks(T const& logits) {
  return {logits};
}

namespace detail {

/// The numbers among the options.
struct score_options {
  std::int64_t window = planner::seen_positions::any, first = 0;
  double soft_cap = 0;
};

[[noreturn, gnu::cold]] inline void throw_score_option(char const* option, char const* rule, double given) {
  throw_error("attention: ", option, rule, ", but ", given, " was given");
}

constexpr void set_option(score_options& operation, attention_window const& w) {
  if (w.size < 0 || w.first < 0)
    throw_score_option("os::window", " has no negative number of keys",
                       static_cast<double>(w.size < 0 ? w.size : w.first));
  operation.window = w.size < planner::seen_positions::any ? w.size : planner::seen_positions::any;
  operation.first = w.first;
}
constexpr void set_option(score_options& operation, score_cap const& c) {
  using limits = std::numeric_limits<float>;
  if (c.value == std::numeric_limits<double>::infinity()) {
    operation.soft_cap = 0;
    return;
  }
  if (!(c.value >= static_cast<double>(limits::min()) && c.value <= static_cast<double>(limits::max())))
    throw_score_option("os::soft_cap(c)", " has a positive c within the range of float, or infinity", c.value);
  operation.soft_cap = c.value;
}
template <class TQ, class TK>
constexpr void set_option(score_options&, document_segments<TQ, TK> const&) {}
template <score_operand Kind, class T>
constexpr void set_option(score_options&, score_tensor<Kind, T> const&) {}
template <class T>
constexpr void set_option(score_options&, row_positions<T> const&) {}

/// The kinds of the tensors among some options, in their order.
template <score_operand... Kinds>
struct score_operands {
  template <score_operand... More>
  constexpr score_operands<Kinds..., More...> operator+(score_operands<More...>) const {
    return {};
  }
  static constexpr int size = sizeof...(Kinds);
  static constexpr int count([[maybe_unused]] score_operand kind) { return (0 + ... + int{Kinds == kind}); }
  /// The index of the first operand of a kind; −1 if there is none.
  static constexpr int find([[maybe_unused]] score_operand kind) {
    int at = -1;
    [[maybe_unused]] int i = 0;
    ((at = at < 0 && Kinds == kind ? i : at, ++i), ...);
    return at;
  }
};

template <class Option>
struct operands_of_option {
  using type = std::conditional_t<TensorOrVariable<Option>, score_operands<score_operand::mask>, score_operands<>>;
  static constexpr bool is_scored = false;
};
template <>
struct operands_of_option<attention_window> {
  using type = score_operands<>;
  static constexpr bool is_scored = true;
};
template <>
struct operands_of_option<score_cap> : operands_of_option<attention_window> {};
template <class TQ, class TK>
struct operands_of_option<document_segments<TQ, TK>> {
  using type = score_operands<score_operand::query_segments, score_operand::key_segments>;
  static constexpr bool is_scored = true;
};
template <score_operand Kind, class T>
struct operands_of_option<score_tensor<Kind, T>> {
  using type = score_operands<Kind>;
  static constexpr bool is_scored = true;
};
template <class T>
struct operands_of_option<row_positions<T>> {
  using type = score_operands<score_operand::positions>;
  static constexpr bool is_scored = true;
};

/// True for an option of this file.
template <class Option>
inline constexpr bool is_score_option = operands_of_option<Option>::is_scored;

template <class... Options>
using operands_of_options = decltype((score_operands<>{} + ... + typename operands_of_option<Options>::type{}));

// Converts segments or positions to the type that the engine reads.
template <class T>
constexpr auto as_segments(T const& ids) {
  if constexpr (std::is_same_v<typename T::value_type, std::int64_t>)
    return ids;
  else
    return ostraka::cast<std::int64_t>(ids);
}

// True for options with tensors. nvcc reports an error if the lambda below tests for the members itself.
template <class Option>
concept HasScoreTensor = requires(Option const& o) { o.tensor; };
template <class Option>
concept HasSegments = requires(Option const& o) { o.of_keys; };
template <class Option>
concept HasRowPositions = requires(Option const& o) { o.positions; };

/// Calls f(the tensors among the options…), in the order of operands_of_options.
template <class F>
constexpr auto with_score_operands(F const& f) {
  return f();
}
template <class F, class First, class... Rest>
constexpr auto with_score_operands(F const& f, First const& first, Rest const&... rest) {
  return with_score_operands(
      [&](auto const&... more) {
        if constexpr (TensorOrVariable<First>)
          return f(first, more...);
        else if constexpr (HasScoreTensor<First>)
          return f(first.tensor, more...);
        else if constexpr (HasSegments<First>)
          return f(as_segments(first.of_queries), as_segments(first.of_keys), more...);
        else if constexpr (HasRowPositions<First>)
          return f(as_segments(first.positions), more...);
        else
          return f(more...);
      },
      rest...);
}

/// True for options that use os::from_position.
template <class Option>
inline constexpr bool reads_position = std::is_same_v<Option, causal_mask> || std::is_same_v<Option, attention_window>;
template <class T>
inline constexpr bool reads_position<score_tensor<score_operand::slopes, T>> = true;

template <class Operation, class Option>
struct document_segments_verdict {
  using type = reason::ok;
};
template <class Operation, class TQ, class TK>
struct document_segments_verdict<Operation, document_segments<TQ, TK>> {
  template <class T>
  using whole = std::conditional_t<std::is_integral_v<typename T::value_type>, reason::ok,
                                   reason::index_is_not_an_integer<typename T::value_type, Operation>>;
  using type = first_fault<whole<TQ>, whole<TK>>;
};
template <class Operation, class T>
struct document_segments_verdict<Operation, row_positions<T>>
    : document_segments_verdict<Operation, document_segments<T, T>> {};

/// `reason::ok` if each option is given at most once, and all are valid.
template <class Operation, class... Options>
consteval auto check_each_once() {
  using each = first_fault<typename document_segments_verdict<Operation, Options>::type...>;
  using operands = operands_of_options<Options...>;
  constexpr int windows = (0 + ... + int{std::is_same_v<Options, attention_window>});
  constexpr int caps = (0 + ... + int{std::is_same_v<Options, score_cap>});
  if constexpr (!std::is_same_v<each, reason::ok>)
    return found<each>{};
  else if constexpr (windows > 1 || caps > 1 || operands::count(score_operand::mask) > 1 ||
                     operands::count(score_operand::bias) > 1 || operands::count(score_operand::slopes) > 1 ||
                     operands::count(score_operand::sinks) > 1 || operands::count(score_operand::key_segments) > 1 ||
                     operands::count(score_operand::positions) > 1)
    return found<reason::option_is_given_twice<Operation>>{};
  else
    return found<reason::ok>{};
}

/// The verdict on options, some of which are from this file.
template <class Operation, class... Options>
consteval auto check_score_options() {
  using each = first_fault<
      std::conditional_t<option_of<Operation, Options>, reason::ok, reason::not_an_option_of_attention<Options>>...,
      typename decltype(check_each_once<Operation, Options...>())::type>;
  constexpr bool has_position = ((std::is_same_v<Options, from_position> || has_row_positions<Options>) || ...);
  if constexpr (std::is_same_v<each, reason::ok> && has_position && !(reads_position<Options> || ...))
    return found<reason::position_without_causal<Operation>>{};
  else
    return found<each>{};
}

}  // namespace detail

}  // namespace ostraka
