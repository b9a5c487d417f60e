// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of os::attention and os::latent_attention. Of variables they are recorded as two
/// operations, which together do what the one does of tensors:
///
///     w = softmax(mask(scale · q k))     keeps w, q and k     dS = scale · w (dw − Σ w dw), dq = dS k, dk = dS q
///     o = w v                            keeps w and v        dw = do v, dv = do w
///
/// So the weights are kept, an array of the scores' shape, and nothing is made again; os::checkpoint trades that for
/// what the forward does once more. dS is written over dw. Where X divides the keys, one number a query and the
/// cotangents of the queries are reduced over X. Keys, values and whatever has the scores' shape stay where they are.
/// A hidden entry has w = dS = 0 and takes no part in dq, dk and dv, even if it is NaN
/// (operations/attention/weigh.hpp).

#include <tuple>
#include <type_traits>

#include <ostraka/gradient/rules/algebra/derivative_of_einsum.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_arithmetic.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_softmax.hpp>
#include <ostraka/operations/attention/latent_attention.hpp>

namespace ostraka {

namespace detail {

template <class Operation>
struct keys_of_attention;
template <class Q, class K, class D, class Out>
struct keys_of_attention<ostraka::operation::attention<Q, K, D, Out>> {
  using told = K;
  template <class TQ, class TK, class TV>
  using types = attention_types<Q, K, D, Out, TQ, TK, TV>;
  template <class TQ, class TK>
  using of_scores = attention_types<Q, K, D, void, TQ, TK, TK>;
  template <class TQ, class TK>
  using moves_of_weights =
      moves_in_turn<moves_of_product<typename of_scores<TQ, TK>::scores, typename of_scores<TQ, TK>::scores_policy,
                                      typename of_scores<TQ, TK>::template as_wide<TQ>,
                                      typename of_scores<TQ, TK>::template as_wide<TK>>,
                     moves_of_statistics<K, 2, typename of_scores<TQ, TK>::scores_tensor>>;
};
template <class Q, class K, class D>
struct keys_of_attention<ostraka::operation::latent_attention<Q, K, D>>
    : keys_of_attention<ostraka::operation::attention<Q, K, D, void>> {};

}  // namespace detail

namespace operation {

/// The weights of an attention. `Pairs`: how many pairs of operands are multiplied for the scores.
template <class Attention, int Pairs>
struct attention_weights : detail::vjp_of_rows {
  static constexpr char const* name = "attention";
  Attention attention;

  template <class TQ, class TK, class... Others>
  using moves = typename detail::keys_of_attention<Attention>::template moves_of_weights<TQ, TK>;

  template <class TQ, class TK, class... Others>
  [[nodiscard]] std::int64_t bytes(TQ const& q, TK const& k, Others const&...) const {
    return attention.bytes_of_weights(q, k);
  }

  template <class... Operands>
  constexpr auto operator()(Operands const&... operands) const {
    return attention.weights(operands...);
  }
};

/// A product of weights, or of scores' cotangents, to this sharding by this policy.
template <class Sharding, class Policy>
struct attention_product : detail::vjp_of_rows {
  static constexpr char const* name = "attention";
  bool hides = false;  ///< are some of them 0 because a mask said so?

  template <class A, class B>
  using moves = detail::moves_of_product<Sharding, Policy, A, B>;

  template <class A, class B>
  [[nodiscard]] std::int64_t bytes(A const& a, B const& b) const {
    constexpr auto plan = detail::plan_for<Sharding>::make(std::type_identity<Policy>{}, type_list<A, B>{});
    return plan.bytes(a.sizes(), b.sizes());
  }

  template <class A, class B>
  constexpr auto operator()(A const& a, B const& b) const {
    return detail::weigh<Sharding, Policy>(name, hides, a, b);
  }
};

}  // namespace operation

namespace detail {

/// Operands stay where they are if the result can be reached so: scores are large, and what a plan would move of them
/// at the sizes that it assumes is not what attention has.
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
constexpr auto einsum_where_they_are(A const& a, B const& b) {
  return einsum_as<Sharding>(a, b, policy_in_place<Sharding, A, B>{});
}

/// The same of weights or scores' cotangents, of which a 0 takes no part.
template <class Sharding, class W, class V>
constexpr auto weigh_where_they_are(bool hides, W const& weights, V const& values) {
  ostraka::operation::attention_product<Sharding, policy_in_place<Sharding, W, V>> const product{{}, hides};
  return operate(product, weights, values);
}

/// Of weights times values.
template <class W, class V>
struct weighing_pullback {
  bool hides;
  kept<is_variable<V>, W> weights;
  kept<is_variable<W>, V> values;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if constexpr (K == 0)
      return einsum_where_they_are<sharding_in<Wanted>>(g, values.get());
    else
      return weigh_where_they_are<sharding_in<Wanted>>(hides, weights.get(), g);
  }
};

/// `Given`: queries, keys, perhaps their rotary parts, and perhaps a mask. Of a pair each needs the other.
template <class Attention, int Pairs, class Weights, class... Given>
struct attention_weights_pullback {
  using Told = typename keys_of_attention<Attention>::told;
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
    ostraka::operation::softmax_vjp<Told> const back{{}, factor};
    auto const scores = back.over_cotangent(weights.get(), g);
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
          weigh_where_they_are<sharding_in<typename operand::cotangent_type>>(hides, scores, other));
    } else {
      return not_kept(scores);
    }
  }
};

/// Attention of variables: the weights of queries and keys, times values. `pairs...`: queries, keys, …, and a mask.
template <int Pairs, class Attention, class V, class Q, class K, class... Others>
constexpr auto composed_attention(Attention const& attention, V const& v, Q const& q, K const& k,
                                  Others const&... others) {
  using types = typename keys_of_attention<Attention>::template types<innermost<Q>, innermost<K>, innermost<V>>;
  using result = varying_as<typename types::result, innermost<Q>, innermost<K>, innermost<V>>;
  auto const weights = operate(ostraka::operation::attention_weights<Attention, Pairs>{{}, attention}, q, k, others...);
  constexpr bool has_mask = sizeof...(Others) > 2 * Pairs - 2;
  ostraka::operation::attention_product<result, typename types::result_policy> const product{
      {}, attention.is_causal || has_mask};
  return as_elements<typename Q::value_type>(operate(product, weights, as_wide(v)));
}

}  // namespace detail

template <class Q, class K, class D, class Out>
struct derivative_of<operation::attention<Q, K, D, Out>> {
  using attention = operation::attention<Q, K, D, Out>;

  template <class TQ, class TK, class TV, class... Mask>
  static constexpr auto composed(attention const& operation, TQ const& q, TK const& k, TV const& v,
                                 Mask const&... mask) {
    using verdict = typename attention::template verdict<detail::innermost<TQ>, detail::innermost<TK>,
                                                         detail::innermost<TV>, detail::innermost<Mask>...>;
    if constexpr (reason::ok_or_raise<verdict>())
      return detail::composed_attention<1>(operation, v, q, k, mask...);
    else
      return q;
  }
};

template <class Q, class K, class D>
struct derivative_of<operation::latent_attention<Q, K, D>> {
  using attention = operation::latent_attention<Q, K, D>;

  template <class TQ, class TK, class TV, class TQR, class TKR, class... Mask>
  static constexpr auto composed(attention const& operation, TQ const& q, TK const& k, TV const& v, TQR const& q_rotary,
                                 TKR const& k_rotary, Mask const&... mask) {
    using verdict = typename attention::template verdict<detail::innermost<TQ>, detail::innermost<TK>,
                                                         detail::innermost<TV>, detail::innermost<TQR>,
                                                         detail::innermost<TKR>, detail::innermost<Mask>...>;
    if constexpr (reason::ok_or_raise<verdict>())
      return detail::composed_attention<2>(operation, v, q, k, q_rotary, k_rotary, mask...);
    else
      return q;
  }
};

template <class Attention, int Pairs>
struct derivative_of<operation::attention_weights<Attention, Pairs>> {
  using weights = operation::attention_weights<Attention, Pairs>;

  template <class Result, class... Given>
  static constexpr auto pullback(weights const& operation, Result const& w, Given const&... given) {
    using pullback = detail::attention_weights_pullback<Attention, Pairs, Result, Given...>;
    double factor = 1;
    if constexpr (!detail::any_foretold<Given...>) factor = operation.attention.factor_of(given...);
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
