// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of attention in rings and tiles with options that change its scores. As in
/// derivative_of_ring_attention.hpp the forward keeps a number for each query, and weights are computed again; the
/// formulas of scores stand in engine/sequences/pull_scores.hpp. Cotangents of a bias and of sinks stay on the devices
/// that have the queries, as summands where the tensor lacks the axis that divides them.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/rules/operations/derivative_of_ring_attention.hpp>
#include <ostraka/operations/attention/scored_attention.hpp>
#include <ostraka/operations/attention/tiled_attention.hpp>

namespace ostraka {

namespace detail {

/// True if the tensor of this kind among `Tensors` is a variable.
template <class Kinds, score_operand Kind, class... Tensors>
consteval bool is_variable_of_scores() {
  if constexpr (constexpr int at = Kinds::find(Kind); at >= 0)
    return is_variable<typename nth<at, Tensors...>::type>;
  else
    return false;
}

/// `Tensors` are those of the scores.
template <class Vjp, class Kinds, class Result, class LogSums, class Q, class K, class V, class... Tensors>
struct scored_ring_pullback {
  Vjp back;
  kept<true, Q> q;
  kept<true, K> k;
  kept<true, V> v;
  remembered<Result> result;
  remembered<LogSums> log_sums;
  std::tuple<kept<true, Tensors>...> tensors;

  template <class G>
  constexpr auto pull_all(G const& given) const {
    auto const g = reshard_as<sharding_in<Result>>(given);
    auto const all = std::apply(
        [&](auto const&... t) {
          return operate(back, q.get(), k.get(), v.get(), result.get(), log_sums.get(), g, t.get()...);
        },
        tensors);
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) {
      return std::tuple(all.first, all.second, all.third, pull_tensor<static_cast<int>(Is), Tensors>(all)...);
    }
    (std::index_sequence_for<Tensors...>{});
  }

 private:
  template <int I, class T, class All>
  static constexpr auto pull_tensor(All const& all) {
    if constexpr (is_variable<T> && Kinds::find(score_operand::bias) == I)
      return as_elements<typename T::value_type>(all.fourth);
    else if constexpr (is_variable<T> && Kinds::find(score_operand::sinks) == I)
      return as_elements<typename T::value_type>(last_of(all));
    else
      return not_kept(I);
  }
  template <class All>
  static constexpr auto const& last_of(All const& all) {
    if constexpr (requires { all.fifth; })
      return all.fifth;
    else
      return all.fourth;
  }
};

}  // namespace detail

template <class Q, class K, class D, class Way, detail::score_traits Traits, detail::score_operand... Kinds>
struct derivative_of<operation::scored_ring<Q, K, D, Way, Traits, Kinds...>> {
  using operation_type = operation::scored_ring<Q, K, D, Way, Traits, Kinds...>;
  using kinds = typename operation_type::kinds;

  template <class TQ, class TK, class TV, class... Tensors>
    requires detail::any_nested<TQ, TK, TV, Tensors...>
  static auto composed(operation_type const& operation, TQ const& q, TK const& k, TV const& v,
                       Tensors const&... tensors) {
    using axis = typename detail::axis_argument<K>::axis;
    using mesh = typename detail::axis_argument<K>::mesh;
    operation::scored<operation::attention<Q, axis, D>, Traits, Kinds...> gathered;
    static_cast<detail::scaled_scores&>(gathered) = operation;
    static_cast<detail::score_options&>(gathered) = operation;
    gathered.is_causal = operation.is_causal;
    gathered.from = operation.from;
    detail::stripe_as_ring<Way>(gathered, q, mesh{});
    return detail::operate(gathered, q, detail::whole_along<axis>(k), detail::whole_along<axis>(v), tensors...);
  }

  template <class Result, class LogSums, class TQ, class TK, class TV, class... Tensors>
  static constexpr auto pullback(operation_type const& operation, detail::several<Result, LogSums> const& made,
                                 TQ const& q, TK const& k, TV const& v, Tensors const&... tensors) {
    using detail::score_operand;
    if constexpr (detail::is_variable_of_scores<kinds, score_operand::slopes, Tensors...>())
      reason::raise<reason::slopes_are_constant<TQ>>();
    using vjp =
        operation::scored_ring_vjp<operation_type, Q, K, D, Way,
                                   detail::is_variable_of_scores<kinds, score_operand::bias, Tensors...>(),
                                   detail::is_variable_of_scores<kinds, score_operand::sinks, Tensors...>(), Kinds...>;
    double scale = 1;
    if constexpr (!is_abstract<Result>) scale = operation.factor_of(q);
    return detail::scored_ring_pullback<vjp, kinds, Result, LogSums, TQ, TK, TV, Tensors...>{
        {operation, scale},
        detail::remember(q),
        detail::remember(k),
        detail::remember(v),
        detail::remembered<Result>(made.first),
        detail::remembered<LogSums>(made.second),
        {detail::remember(tensors)...}};
  }
};

/// Attention in tiles, or to a few queries by whole scores.
template <class Q, class K, class D>
struct derivative_of<operation::tiled_attention<Q, K, D>> {
  using operation_type = operation::tiled_attention<Q, K, D>;
  template <class TQ, class TK, class TV>
  static constexpr bool may_be_tiled =
      operation_type::template is_tiled<detail::innermost<TQ>, detail::innermost<TK>, detail::innermost<TV>> &&
      !detail::any_nested<TQ, TK, TV>;

  template <class TQ, class TK, class TV>
  static constexpr auto composed(operation_type const& operation, TQ const& q, TK const& k, TV const& v) {
    using detail::innermost;
    using by_scores = derivative_of<typename operation_type::attention_type>;
    using verdict = typename operation_type::template verdict<innermost<TQ>, innermost<TK>, innermost<TV>>;
    if constexpr (!reason::ok_or_raise<verdict>()) {
      return q;
    } else {
      if constexpr (may_be_tiled<TQ, TK, TV>)
        if (operation.are_many(q)) return detail::operate(operation.in_tiles(), q, k, v);
      return by_scores::composed(operation, q, k, v);
    }
  }
};

}  // namespace ostraka
