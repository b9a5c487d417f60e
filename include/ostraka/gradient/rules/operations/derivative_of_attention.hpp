// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of os::attention and os::latent_attention. With variables they are recorded as two
/// operations, which together compute what the single one computes of tensors:
///
///     w = softmax(mask(scale · q k))     keeps w, q and k     dS = scale · w (dw − Σ w dw), dq = dS k, dk = dS q
///     o = w v                            keeps w and v        dw = do v, dv = do w
/// So the weights are kept, an array of the scores' shape, and nothing is computed again; os::checkpoint trades that
/// memory for a second forward. dS is written over dw. If X divides the keys, one number a query and the cotangents of
/// the queries are reduced over X. Keys, values and arrays of the scores' shape stay where they are. A hidden entry has
/// w = dS = 0 and takes no part in dq, dk and dv, even if it is NaN (operations/attention/weigh.hpp).

#include <tuple>
#include <type_traits>

#include <ostraka/engine/memory/foreign_memory.hpp>
#include <ostraka/gradient/rules/algebra/derivative_of_einsum.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_arithmetic.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_softmax.hpp>
#include <ostraka/operations/attention/latent_attention.hpp>

namespace ostraka {

namespace operation {

/// The weights of an attention. `Pairs` is the number of pairs of operands that are multiplied for the scores.
template <class Attention, int Pairs>
struct attention_weights : detail::vjp_of_rows {
  static constexpr char const* name = "attention";
  Attention attention;

  template <class TQ, class TK, class... Others>
  using moves = typename Attention::template types<TQ, TK, TK>::moves_of_weights;

  template <class How, class... Operands>
  auto run(How const&, Operands const&... operands) const {
    return attention.weights(operands...);
  }
};

/// A product of weights, or of scores' cotangents, to this sharding under this policy.
template <class Sharding, class Policy>
struct attention_product : detail::vjp_of_rows {
  static constexpr char const* name = "attention";
  bool hides = false;  ///< true if a mask makes some of them 0

  template <class A, class B>
  using moves = detail::moves_of_product<Sharding, Policy, A, B>;

  template <class How, class A, class B>
  auto run(How const&, A const& a, B const& b) const {
    return detail::weigh<Sharding, Policy>(name, hides, a, b);
  }
};

}  // namespace operation

namespace detail {

/// A policy that leaves operands where they are if the result can be reached that way. Scores are large, and the sizes
/// that a plan assumes are not those of attention.
template <class Sharding, class A, class B>
consteval auto find_policy_in_place() {
  using stays = std::remove_cvref_t<decltype(no_communication)>;
  using reduces = std::remove_cvref_t<decltype(reduce_result)>;
  if constexpr (std::is_same_v<einsum_verdict<Sharding, stays, A, B>, reason::ok>)
    return stays{};
  else if constexpr (std::is_same_v<einsum_verdict<Sharding, reduces, A, B>, reason::ok>)
    return reduces{};
  else
    return policy<planner::admit::any>{};
}
template <class Sharding, class A, class B>
using policy_in_place = decltype(find_policy_in_place<Sharding, innermost<A>, innermost<B>>());

template <class Sharding, class A, class B>
constexpr auto local_einsum(A const& a, B const& b) {
  return einsum_as<Sharding>(a, b, policy_in_place<Sharding, A, B>{});
}

/// The same for weights or scores' cotangents, of which zeros take no part.
template <class Sharding, class W, class V>
constexpr auto local_weighting(bool hides, W const& weights, V const& values) {
  ostraka::operation::attention_product<Sharding, policy_in_place<Sharding, W, V>> const product{{}, hides};
  return operate(product, weights, values);
}

/// The scores' cotangents, written over those of the weights if nothing else holds these.
template <class Vjp, class W, class G>
constexpr auto pull_over(Vjp const& back, W const& weights, G const& g) {
  if constexpr (std::is_same_v<W, G> && Tensor<G>) {
    if (engine::holders_of(g.local()) == 1) return back.over_cotangent(weights, g);
  } else if constexpr (std::is_same_v<W, G> && is_abstract<G>) {
    if (g.block().is_alone()) return predict_in_place(back, g, weights);
  }
  return operate(back, weights, g);
}

/// The pullback of weights times values.
template <class W, class V>
struct weighing_pullback {
  bool hides;
  kept<is_variable<V>, W> weights;
  kept<is_variable<W>, V> values;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if constexpr (K == 0)
      return local_einsum<sharding_in<Wanted>>(g, values.get());
    else
      return local_weighting<sharding_in<Wanted>>(hides, weights.get(), g);
  }
};

/// `Given` are queries, keys, perhaps their rotary parts, and perhaps a mask. Each of a pair needs the other.
template <class Attention, int Pairs, class Weights, class... Given>
struct attention_weights_pullback {
  template <int K>
  using given = typename nth<K, Given...>::type;
  template <int K>
  static constexpr bool is_needed =
      K < 2 * Pairs&& is_variable<typename nth<(K < 2 * Pairs ? (K ^ 1) : 0), Given...>::type>;

  template <int... Ks>
  static constexpr auto keep(std::integer_sequence<int, Ks...>, Given const&... given) {
    return std::tuple(remember_if<is_needed<Ks>>(given)...);
  }
  using kept_operands =
      decltype(keep(std::make_integer_sequence<int, sizeof...(Given)>{}, std::declval<Given const&>()...));

  double factor;
  bool hides;
  kept<true, Weights> weights;
  kept_operands others;

  template <class G>
  constexpr auto pull_all(G const& g) const {
    ostraka::operation::softmax_vjp<typename Attention::keys> const back{{}, factor};
    auto const scores = pull_over(back, weights.get(), g);
    return [&]<int... Ks>(std::integer_sequence<int, Ks...>) { return std::tuple(pull_operand<Ks>(scores)...); }
    (std::make_integer_sequence<int, sizeof...(Given)>{});
  }

 private:
  template <int K, class S>
  constexpr auto pull_operand(S const& scores) const {
    using operand = given<K>;
    if constexpr (K < 2 * Pairs && is_variable<operand>) {
      auto const other = as_wide(std::get<static_cast<std::size_t>(K ^ 1)>(others).get());
      return as_elements<typename operand::value_type>(
          local_weighting<sharding_in<typename operand::cotangent_type>>(hides, scores, other));
    } else {
      return not_kept(scores);
    }
  }
};

/// The composition for variables: the weights of queries and keys, of which there are `Pairs` pairs, times values.
template <class Attention, int Pairs>
struct derivative_by_weights {
  /// `Others` are the second pair, and a mask.
  template <class Q, class K, class V, class... Others>
  static constexpr auto composed(Attention const& attention, Q const& q, K const& k, V const& v,
                                 Others const&... others) {
    using verdict =
        typename Attention::template verdict<innermost<Q>, innermost<K>, innermost<V>, innermost<Others>...>;
    if constexpr (reason::ok_or_raise<verdict>()) {
      using types = typename Attention::template types<innermost<Q>, innermost<K>, innermost<V>>;
      using result = varying_as<typename types::result, innermost<Q>, innermost<K>, innermost<V>>;
      auto const weights =
          operate(ostraka::operation::attention_weights<Attention, Pairs>{{}, attention}, q, k, others...);
      constexpr bool has_mask = sizeof...(Others) > 2 * Pairs - 2;
      ostraka::operation::attention_product<result, typename types::result_policy> const product{
          {}, attention.is_causal || has_mask};
      return as_elements<typename Q::value_type>(operate(product, weights, as_wide(v)));
    } else {
      return q;
    }
  }
};

}  // namespace detail

template <class Q, class K, class D, class Out>
struct derivative_of<operation::attention<Q, K, D, Out>>
    : detail::derivative_by_weights<operation::attention<Q, K, D, Out>, 1> {};
template <class Q, class K, class D>
struct derivative_of<operation::latent_attention<Q, K, D>>
    : detail::derivative_by_weights<operation::latent_attention<Q, K, D>, 2> {};

template <class Attention, int Pairs>
struct derivative_of<operation::attention_weights<Attention, Pairs>> {
  using weights = operation::attention_weights<Attention, Pairs>;

  template <class Result, class... Given>
  static constexpr auto pullback(weights const& operation, Result const& w, Given const&... given) {
    using pullback = detail::attention_weights_pullback<Attention, Pairs, Result, Given...>;
    double factor = 1;
    if constexpr (!detail::any_abstract_variable<Given...>) factor = operation.attention.factor_of(given...);
    return pullback{factor, operation.attention.is_causal || sizeof...(Given) > 2 * Pairs, detail::remember(w),
                    pullback::keep(std::make_integer_sequence<int, sizeof...(Given)>{}, given...)};
  }
};

template <class Sharding, class Policy>
struct derivative_of<operation::attention_product<Sharding, Policy>> {
  template <class Result, class A, class B>
  static constexpr auto pullback(operation::attention_product<Sharding, Policy> const& product, Result const&,
                                 A const& a, B const& b) {
    return detail::weighing_pullback<A, B>{product.hides, detail::remember_if<is_variable<B>>(a),
                                           detail::remember_if<is_variable<A>>(b)};
  }
};

}  // namespace ostraka
