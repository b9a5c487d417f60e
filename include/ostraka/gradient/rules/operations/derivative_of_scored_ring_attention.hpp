// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of attention in rings and tiles with options that change its scores. As in
/// derivative_of_ring_attention.hpp the forward keeps a number for each query, and weights are recomputed; the formulas
/// of scores are in engine/sequences/pull_scores.hpp. Cotangents of a bias and of sinks stay on the devices that have
/// the queries, as summands if the tensor lacks the divided axis of the queries.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/rules/operations/derivative_of_ring_attention.hpp>
#include <ostraka/gradient/rules/operations/recorded_attention.hpp>
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

/// `Tensors` are the tensors of the scores.
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

/// An attention in tiles of tensors, at least one of them a variable of the only derivative, as constants.
template <class DimQ, class DimK, class DimD, class Operation, class Q, class K, class V>
struct tiles_of_variables {
  using types = ring_types<DimQ, DimK, DimD, plain_type<Q>, plain_type<K>, plain_type<V>>;
  using labels = typename types::labels;
  using mesh = typename types::mesh;
  using result = typename types::result_type;
  using value = typename result::value_type;
  using space = typename result::space;

  template <class X>
  static consteval bool is_planned() {
    if constexpr (is_variable<X>)
      return find_conversion<typename types::template cotangent_type<plain_type<X>>,
                             typename X::cotangent_type>::is_planned();
    else
      return true;
  }
  template <class X>
  static consteval conversion<value, space> conversion_to() {
    if constexpr (is_variable<X>)
      return find_conversion<typename types::template cotangent_type<plain_type<X>>,
                             typename X::cotangent_type>::as_constant();
    else
      return {};
  }

  static constexpr planner::spec const* specs[] = {&spec_of<plain_type<Q>, labels, mesh>,
                                                   &spec_of<plain_type<K>, labels, mesh>,
                                                   &spec_of<plain_type<V>, labels, mesh>};
  static constexpr tiles_and_derivative<value, space> constants{
      Operation::name,
      "attention_vjp",
      &type_mark<result>,
      {specs, &spec_of<result, labels, mesh>, &naming_of<labels, mesh>, labels::size, mesh::size},
      position_in<typename types::queries, labels>,
      position_in<typename types::keys, labels>,
      position_in<typename types::width, labels>,
      {conversion_to<Q>(), conversion_to<K>(), conversion_to<V>()}};
};

/// True if one function records the attention.
template <class DimQ, class DimK, class DimD, class Operation, class Q, class K, class V>
consteval bool check_shared_tiles() {
  if constexpr (depth_of_all<Q, K, V> != 1 ||
                !(is_tensor<plain_type<Q>> && is_tensor<plain_type<K>> && is_tensor<plain_type<V>>)) {
    return false;
  } else {
    using T = typename plain_type<Q>::element_type;
    using verdict = typename Operation::template verdict<plain_type<Q>, plain_type<K>, plain_type<V>>;
    using space = typename plain_type<Q>::space;
    if constexpr (any_varies<plain_type<Q>, plain_type<K>, plain_type<V>> ||
                  !std::is_same_v<T, accumulator_of_t<std::remove_const_t<T>>> ||
                  !std::is_same_v<space, typename plain_type<K>::space> ||
                  !std::is_same_v<space, typename plain_type<V>::space> || !std::is_same_v<verdict, reason::ok>) {
      return false;
    } else {
      using shared = tiles_of_variables<DimQ, DimK, DimD, Operation, Q, K, V>;
      return std::is_same_v<cotangent_of<typename shared::result>, typename shared::result> &&
             shared::template is_planned<Q>() && shared::template is_planned<K>() && shared::template is_planned<V>();
    }
  }
}

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

  /// Records tiles in one function for all shardings, which does not know names.
  template <class TQ, class TK, class TV>
    requires(sizeof...(Kinds) == 0 && detail::axis_argument<K>::mesh::size == 0 &&
             detail::check_shared_tiles<Q, K, D, operation_type, TQ, TK, TV>())
  static auto record(operation_type const& operation, TQ const& q, TK const& k, TV const& v) {
    using shared = detail::tiles_of_variables<Q, K, D, operation_type, TQ, TK, TV>;
    detail::tiles_of_call const call{operation, operation, operation.is_causal, operation.from};
    variable<typename shared::result> y;
    detail::without_names<typename shared::result>& value = y.writable_value();
    detail::record_tiles(shared::constants, call, detail::as_shared_operand(q), detail::as_shared_operand(k),
                         detail::as_shared_operand(v), value, y.writable_place());
    return y;
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
