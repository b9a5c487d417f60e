// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of os::attention and os::latent_attention. With variables, attention is recorded as two
/// operations, which together compute what the single one computes for tensors:
///
///     w = softmax(mask(scale · q k))     keeps w, q and k     dS = scale · w (dw − Σ w dw), dq = dS k, dk = dS q
///     o = w v                            keeps w and v        dw = do v, dv = do w
/// So the tape keeps the weights, an array of the scores' shape, and nothing is recomputed; os::checkpoint trades that
/// memory for a second forward. dS overwrites dw. If X divides the keys, one number a query and the cotangents of the
/// queries are reduced over X. Keys, values and arrays of the scores' shape do not move. A hidden entry has w = dS = 0
/// and does not enter dq, dk and dv, even if it is NaN (operations/attention/weigh.hpp).

#include <tuple>
#include <type_traits>

#include <ostraka/engine/memory/foreign_memory.hpp>
#include <ostraka/gradient/rules/algebra/derivative_of_einsum.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_arithmetic.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_softmax.hpp>
#include <ostraka/gradient/rules/operations/recorded_attention.hpp>
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
  bool hides = false;  ///< true if a mask makes some weights 0

  template <class A, class B>
  using moves = detail::moves_of_product<Sharding, Policy, A, B>;

  template <class How, class A, class B>
  auto run(How const&, A const& a, B const& b) const {
    return detail::weigh<Sharding, Policy>(name, hides, a, b);
  }
};

}  // namespace operation

namespace detail {

/// A policy that does not move the operands if the result can be reached without it. Scores are large, and the sizes
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

/// The same for weights or scores' cotangents, whose zeros are ignored.
template <class Sharding, class W, class V>
constexpr auto local_weighting(bool hides, W const& weights, V const& values) {
  ostraka::operation::attention_product<Sharding, policy_in_place<Sharding, W, V>> const product{{}, hides};
  return operate(product, weights, values);
}

/// The scores' cotangents. They overwrite the cotangents of the weights if no other handle holds these.
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

/// `Given` are queries, keys, perhaps their rotary parts, and perhaps a mask. The cotangent of each operand of a pair
/// needs the other one.
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

/// True for operands that functions for all shardings accept: tensors of the global view, with elements that need no
/// wider type, and variables of these, of one derivative.
template <class A, class B>
consteval bool may_share_products() {
  if constexpr (depth_of_all<A, B> != 1 || !is_tensor<plain_type<A>> || !is_tensor<plain_type<B>>) {
    return false;
  } else {
    using a = plain_type<A>;
    using b = plain_type<B>;
    using T = typename a::element_type;
    return !any_varies<a, b> && std::is_same_v<T, accumulator_of_t<typename a::value_type>> &&
           std::is_same_v<T, typename b::element_type> && std::is_same_v<typename a::space, typename b::space>;
  }
}

/// Weights times values as constants. `weigh`: the product of weights or scores' cotangents that makes a variable's
/// cotangents.
template <class Wanted, class W, class V>
using weighing_to = find_weighing<sharding_in<Wanted>, policy_in_place<sharding_in<Wanted>, W, V>, W, V>;

template <class Name, class Sharding, class Policy, class W, class V>
struct weighing_of_variables {
  using weights = plain_type<W>;
  using values = plain_type<V>;
  using value = typename weights::value_type;
  using space = typename weights::space;
  using result = basic_tensor<value, Sharding, space>;
  using cotangent = cotangent_of<result>;
  using forward = find_weighing<Sharding, Policy, weights, values>;
  template <class Wanted>
  using einsum_to =
      einsum_call<sharding_in<Wanted>, cotangent, values, policy_in_place<sharding_in<Wanted>, cotangent, values>>;

  static consteval bool is_planned() {
    if constexpr (!forward::is_planned()) {
      return false;
    } else {
      bool planned = true;
      if constexpr (is_variable<W>)
        planned = is_planned_einsum<einsum_to<typename W::cotangent_type>, typename W::cotangent_type>();
      if constexpr (is_variable<V>)
        planned = planned && weighing_to<typename V::cotangent_type, weights, cotangent>::is_planned();
      return planned;
    }
  }
  static consteval weighing_and_derivative<value, space> make_constants() {
    weighing_and_derivative<value, space> all{Name::name, &type_mark<result>, forward::as_constant()};
    if constexpr (is_variable<W>) all.to_weights = einsum_to<typename W::cotangent_type>::run::as_constant();
    if constexpr (is_variable<V>)
      all.to_values = weighing_to<typename V::cotangent_type, weights, cotangent>::as_constant();
    return all;
  }
  static constexpr weighing_and_derivative<value, space> constants = make_constants();
};

template <class Name, class Sharding, class Policy, class W, class V>
consteval bool check_shared_weighing() {
  if constexpr (!may_share_products<W, V>())
    return false;
  else
    return weighing_of_variables<Name, Sharding, Policy, W, V>::is_planned();
}

/// The weights of an attention as constants.
template <class Attention, class Q, class K>
struct weights_of_variables {
  using queries = plain_type<Q>;
  using keys = plain_type<K>;
  using types = typename Attention::template types<queries, keys, keys>;
  using value = typename queries::value_type;
  using space = typename queries::space;
  using result = typename types::scores_tensor;
  using scores =
      einsum_of<sharding_in<result>, typename types::scores_policy, reduction::sum, type_list<queries, keys>>;

  static consteval bool is_planned() {
    if constexpr (!scores::is_planned || !std::is_same_v<cotangent_of<result>, result>) {
      return false;
    } else {
      bool planned = true;
      if constexpr (is_variable<Q>) planned = weighing_to<typename Q::cotangent_type, result, keys>::is_planned();
      if constexpr (is_variable<K>)
        planned = planned && weighing_to<typename K::cotangent_type, result, queries>::is_planned();
      return planned;
    }
  }
  static consteval weights_and_derivative<value, space> make_constants() {
    weights_and_derivative<value, space> all{Attention::name,
                                             &type_mark<result>,
                                             scores::as_constant(),
                                             axis_call_of<typename Attention::keys, result>,
                                             dimension_of<typename Attention::query_axis, result>,
                                             dimension_of<typename Attention::width_axis, queries>};
    if constexpr (is_variable<Q>) all.to_queries = weighing_to<typename Q::cotangent_type, result, keys>::as_constant();
    if constexpr (is_variable<K>) all.to_keys = weighing_to<typename K::cotangent_type, result, queries>::as_constant();
    return all;
  }
  static constexpr weights_and_derivative<value, space> constants = make_constants();
};

/// True if one function records the weights, because they are the weights of plain attention.
template <class Attention, class... Given>
inline constexpr bool shares_weights = false;
template <class QAxis, class KAxis, class D, class Out, class Q, class K>
inline constexpr bool shares_weights<ostraka::operation::attention<QAxis, KAxis, D, Out>, Q, K> = [] {
  if constexpr (!may_share_products<Q, K>())
    return false;
  else
    return weights_of_variables<ostraka::operation::attention<QAxis, KAxis, D, Out>, Q, K>::is_planned();
}();

/// An attention of three variables as constants.
template <class Attention, class Q, class K, class V>
struct attention_of_variables {
  using types = typename Attention::template types<plain_type<Q>, plain_type<K>, plain_type<V>>;
  using weights = weights_of_variables<Attention, Q, K>;
  using policy_type = typename types::result_policy;
  using product = ostraka::operation::attention_product<typename types::result, policy_type>;
  using weighing =
      weighing_of_variables<product, typename types::result, policy_type, variable<typename weights::result>, V>;

  static auto record(Attention const& attention, Q const& q, K const& k, V const& v) {
    numbers_of_scores const numbers{attention, attention.is_causal, attention.from, attention.stripes};
    variable<typename weighing::result, typename weighing::cotangent> y;
    without_names<typename weighing::result>& value = y.writable_value();
    record_whole_attention<weights::result::rank>(weights::constants, weighing::constants, numbers,
                                                  as_shared_operand(q), as_shared_operand(k), as_shared_operand(v),
                                                  value, y.writable_place());
    return y;
  }
};

/// True if one function records both operations.
template <class Attention, class Q, class K, class V>
consteval bool check_shared_attention() {
  if constexpr (!(is_variable<Q> && is_variable<K> && is_variable<V>))
    return false;
  else if constexpr (!may_share_products<Q, V>() || !shares_weights<Attention, Q, K>)
    return false;
  else
    return attention_of_variables<Attention, Q, K, V>::weighing::is_planned();
}
template <class Attention, class... Given>
inline constexpr bool shares_attention = false;
template <class Attention, class Q, class K, class V>
inline constexpr bool shares_attention<Attention, Q, K, V> = check_shared_attention<Attention, Q, K, V>();

/// The composition for variables: the weights of queries and keys, of which there are `Pairs` pairs, times values.
template <class Attention, int Pairs>
struct derivative_by_weights {
  /// `Others` are the second pair, and a mask.
  template <class Q, class K, class V, class... Others>
  static constexpr auto composed(Attention const& attention, Q const& q, K const& k, V const& v,
                                 Others const&... others) {
    using verdict =
        typename Attention::template verdict<innermost<Q>, innermost<K>, innermost<V>, innermost<Others>...>;
    if constexpr (!reason::ok_or_raise<verdict>()) {
      return q;
    } else if constexpr (Pairs == 1 && shares_attention<Attention, Q, K, V, Others...>) {
      return attention_of_variables<Attention, Q, K, V>::record(attention, q, k, v);
    } else {
      using types = typename Attention::template types<innermost<Q>, innermost<K>, innermost<V>>;
      using result = varying_as<typename types::result, innermost<Q>, innermost<K>, innermost<V>>;
      auto const weights =
          operate(ostraka::operation::attention_weights<Attention, Pairs>{{}, attention}, q, k, others...);
      constexpr bool has_mask = sizeof...(Others) > 2 * Pairs - 2;
      ostraka::operation::attention_product<result, typename types::result_policy> const product{
          {}, attention.is_causal || has_mask};
      return as_elements<typename Q::value_type>(operate(product, weights, as_wide(v)));
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

  /// Records weights in one function for all shardings, which does not know names.
  template <class Q, class K>
    requires(Pairs == 1 && detail::shares_weights<Attention, Q, K>)
  static auto record(weights const& operation, Q const& q, K const& k) {
    using shared = detail::weights_of_variables<Attention, Q, K>;
    Attention const& attention = operation.attention;
    detail::numbers_of_scores const numbers{attention, attention.is_causal, attention.from, attention.stripes};
    variable<typename shared::result> y;
    detail::without_names<typename shared::result>& value = y.writable_value();
    detail::record_weights(shared::constants, numbers, detail::as_shared_operand(q), detail::as_shared_operand(k),
                           value, y.writable_place());
    return y;
  }

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
  using product_type = operation::attention_product<Sharding, Policy>;

  /// Records products in one function for all shardings, which does not know names.
  template <class W, class V>
    requires(detail::check_shared_weighing<product_type, Sharding, Policy, W, V>())
  static auto record(product_type const& product, W const& weights, V const& values) {
    using shared = detail::weighing_of_variables<product_type, Sharding, Policy, W, V>;
    variable<typename shared::result, typename shared::cotangent> y;
    detail::without_names<typename shared::result>& value = y.writable_value();
    detail::record_weighing(shared::constants, product.hides, detail::as_shared_operand(weights),
                            detail::as_shared_operand(values), value, y.writable_place());
    return y;
  }

  template <class Result, class A, class B>
  static constexpr auto pullback(operation::attention_product<Sharding, Policy> const& product, Result const&,
                                 A const& a, B const& b) {
    return detail::weighing_pullback<A, B>{product.hides, detail::remember_if<is_variable<B>>(a),
                                           detail::remember_if<is_variable<A>>(b)};
  }
};

}  // namespace ostraka
