// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of attention with options that change its scores. With variables they are recorded as
/// scores, a softmax and a product:
///
///     x = factor · q k,  s = score(x)    keeps q and k     dx = ds · (1 − tanh²(x / c)) with a soft cap, else ds;
///                                                          dq = factor · dx k,  dk = factor · dx q,  d bias = Σ ds
///     w = softmax(s), beside sinks                         as os::softmax, os::log_sum_exp and os::multiply
///     o = w v                                              as in derivative_of_attention.hpp
///
/// With a soft cap, x is recomputed. A hidden pair has ds = 0, and does not contribute even if its x is NaN.

#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/rules/elements/derivative_of_map.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_scored_ring_attention.hpp>
#include <ostraka/operations/attention/scored_attention.hpp>

namespace ostraka {

namespace operation {

/// The scores of an attention with options.
template <class Scored>
struct scored_products : detail::vjp_of_rows {
  static constexpr char const* name = "attention";
  Scored scored;

  template <class TQ, class TK, class... Others>
  using moves = typename Scored::template types<TQ, TK, TK>::moves_of_scores;

  template <class How, class... Operands>
  auto run(How const&, Operands const&... operands) const {
    return scored.scores(operands...);
  }
};

}  // namespace operation

namespace detail {

/// A hidden key does not contribute to the cotangents.
template <class Weights, class Sums, class Sinks>
struct weights_beside_sinks_pullback {
  kept<true, Weights> weights;
  kept<true, Sums> sums;
  kept<true, Sinks> sinks;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if constexpr (K == 0) {
      auto const shares = ostraka::map(share_beside_sink{}, sums.get(), sinks.get());
      return summed_to<Wanted>(ostraka::map(weight_beside_sink{}, weights.get(), shares, g));
    } else {
      auto const of_shares = sum_as<sharding_in<Sums>>(ostraka::map(weighed_cotangent{}, weights.get(), g));
      auto const pulled = ostraka::map(share_beside_sink{}, sums.get(), sinks.get(), of_shares);
      if constexpr (K == 1)
        return summed_to<Wanted>(pulled);
      else
        return summed_to<Wanted>(ostraka::negate(pulled));
    }
  }
};

/// g · (1 − tanh²(x / c)), or 0 if g is 0: a hidden element does not contribute, even if x is NaN.
struct pull_soft_cap {
  double cap;

  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& g, T const& x) const {
    return g == T(0) ? T(0) : g * slope(x);
  }
  template <int K, class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const& g, T const& x) const {
    if (g == T(0)) return K == 0 && slope(x) == slope(x) ? slope(x) : T(0);
    T const c = static_cast<T>(cap);
    return K == 0 ? slope(x) : T(-2) * g * slope(x) * engine::tanh(x / c) / c;
  }

 private:
  template <class T>
  KOKKOS_INLINE_FUNCTION T slope(T x) const {
    T const t = engine::tanh(x / static_cast<T>(cap));
    return T(1) - t * t;
  }
};

/// `Given` are queries, keys, perhaps their rotary parts, and the tensors of the scores.
template <class Scored, class Result, class... Given>
struct scored_products_pullback {
  static constexpr int multiplied = 2 * Scored::pairs;
  template <int I>
  using given = typename nth<I, Given...>::type;
  template <int I>
  static constexpr bool is_needed = Scored::has_cap || is_variable<given<(I ^ 1)>>;

  template <int... Is>
  static constexpr auto keep(std::integer_sequence<int, Is...>, Given const&... all) {
    auto const tied = std::tie(all...);
    return std::tuple(remember_if<is_needed<Is>>(std::get<static_cast<std::size_t>(Is)>(tied))...);
  }
  using kept_operands = decltype(keep(std::make_integer_sequence<int, multiplied>{}, std::declval<Given const&>()...));

  double factor;
  Scored scored;
  kept_operands operands;

  template <class G>
  constexpr auto pull_all(G const& of_result) const {
    auto const g = reshard_as<sharding_in<Result>>(of_result);
    auto const of_products = pull_cap(g);
    return [&]<int... Is>(std::integer_sequence<int, Is...>) { return std::tuple(pull_operand<Is>(g, of_products)...); }
    (std::make_integer_sequence<int, sizeof...(Given)>{});
  }

 private:
  static constexpr int bias = Scored::kinds::find(score_operand::bias);  ///< index of the bias among the scores'
                                                                         ///< tensors

  template <class G>
  constexpr auto pull_cap(G const& g) const {
    if constexpr (Scored::has_cap) {
      using plain = ostraka::operation::scored<typename Scored::attention_type, score_traits{}>;
      ostraka::operation::scored_products<plain> again;
      static_cast<typename Scored::attention_type&>(again.scored) = scored;
      again.scored.is_causal = false;
      auto const x = std::apply([&](auto const&... kept_ones) { return operate(again, kept_ones.get()...); }, operands);
      return ostraka::map(pull_soft_cap{scored.soft_cap}, g, x);
    } else {
      return g;
    }
  }

  template <int I, class G, class P>
  constexpr auto pull_operand([[maybe_unused]] G const& g, [[maybe_unused]] P const& of_products) const {
    using operand = given<I>;
    if constexpr (!is_variable<operand>) {
      return not_kept(g);
    } else if constexpr (I < multiplied) {
      auto const other = as_wide(std::get<static_cast<std::size_t>(I ^ 1)>(operands).get());
      return as_elements<typename operand::value_type>(local_weighting<sharding_in<typename operand::cotangent_type>>(
          scored.hides(), of_products, ostraka::scale(other, factor)));
    } else if constexpr (bias >= 0 && I == multiplied + bias) {
      using target = sharding_in<typename operand::cotangent_type>;
      auto const sum = [&] {
        if constexpr (std::is_same_v<axes_in<G>, axes_in<operand>>)
          return reshard_as<target>(g);
        else
          return sum_as<target>(g);
      }();
      return as_elements<typename operand::value_type>(sum);
    } else {
      return not_kept(g);
    }
  }
};

/// True for a variable whose derivative would be dropped.
template <class Kinds, class... Tensors>
consteval bool has_variable_slopes() {
  constexpr int at = Kinds::find(score_operand::slopes);
  if constexpr (at >= 0)
    return is_variable<typename nth<static_cast<int>(sizeof...(Tensors)) - Kinds::size + at, Tensors...>::type>;
  else
    return false;
}

}  // namespace detail

template <>
struct derivative_of<operation::weights_beside_sinks> {
  template <class Result, class Weights, class Sums, class Sinks>
  static constexpr auto pullback(operation::weights_beside_sinks, Result const&, Weights const& weights,
                                 Sums const& sums, Sinks const& sinks) {
    return detail::weights_beside_sinks_pullback<Weights, Sums, Sinks>{detail::remember(weights),
                                                                       detail::remember(sums), detail::remember(sinks)};
  }
};

template <class Attention, detail::score_traits Traits, detail::score_operand... Kinds>
struct derivative_of<operation::scored<Attention, Traits, Kinds...>> {
  using scored = operation::scored<Attention, Traits, Kinds...>;

  template <class Q, class K, class V, class... Others>
  static constexpr auto composed(scored const& attention, Q const& q, K const& k, V const& v, Others const&... others) {
    using detail::innermost;
    using verdict = typename scored::template verdict<innermost<Q>, innermost<K>, innermost<V>, innermost<Others>...>;
    if constexpr (detail::has_variable_slopes<typename scored::kinds, Others...>()) {
      reason::raise<reason::slopes_are_constant<Q>>();
      return q;
    } else if constexpr (!reason::ok_or_raise<verdict>()) {
      return q;
    } else if constexpr (scored::template is_tiled<innermost<Q>, innermost<K>, innermost<V>> &&
                         !detail::any_nested<Q, K, V, Others...>) {
      return detail::operate(attention.in_tiles(), q, k, v, others...);
    } else {
      using types = typename Attention::template types<innermost<Q>, innermost<K>, innermost<V>>;
      using result = varying_as<typename types::result, innermost<Q>, innermost<K>, innermost<V>>;
      auto const scores = detail::operate(operation::scored_products<scored>{{}, attention}, q, k, others...);
      operation::attention_product<result, typename types::result_policy> const product{{}, attention.hides()};
      return detail::as_elements<typename Q::value_type>(
          detail::operate(product, attention.weights(scores, others...), detail::as_wide(v)));
    }
  }
};

template <class Scored>
struct derivative_of<operation::scored_products<Scored>> {
  template <class Result, class... Given>
  static constexpr auto pullback(operation::scored_products<Scored> const& operation, Result const&,
                                 Given const&... given) {
    using pullback = detail::scored_products_pullback<Scored, Result, Given...>;
    double factor = 1;
    if constexpr (!detail::any_abstract_variable<Given...>) factor = operation.scored.factor_of(given...);
    return pullback{factor, operation.scored,
                    pullback::keep(std::make_integer_sequence<int, pullback::multiplied>{}, given...)};
  }
};

}  // namespace ostraka
