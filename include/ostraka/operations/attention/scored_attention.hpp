// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Attention with options that change its scores (score_options.hpp), for all layouts of os::attention and
/// os::latent_attention:
///
///     scores = products of queries and keys, turned into scores in place
///     w      = softmax(scores), times exp(l) / (exp(l) + exp(sink)) where l = log Σ exp(scores)
///     o      = w v                                           moves what attention moves, and l over K/X
///
/// Programs without such options do not instantiate this file.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/engine/sequences/score_pairs.hpp>
#include <ostraka/operations/attention/latent_attention.hpp>
#include <ostraka/operations/attention/scored_ring_attention.hpp>

namespace ostraka {

namespace detail {

/// The share of the softmax that a sink leaves to the keys, exp(l) / (exp(l) + exp(sink)), and the cotangent of l from
/// that of the share. A sink of −∞ has no effect, even in a row of NaN.
struct share_beside_sink {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& l, T const& sink) const {
    return l == engine::detail::minus_infinity<T> ? T(0) : T(1) / (T(1) + engine::exp(sink - l));
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& l, T const& sink, T const& g) const {
    T const s = (*this)(l, sink), slope = s * (T(1) - s);
    return slope == T(0) ? T(0) : slope * g;
  }
  template <int K, class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const& l, T const& sink, T const& g) const {
    T const s = (*this)(l, sink), slope = s * (T(1) - s);
    T const bent = slope == T(0) ? T(0) : slope * (T(1) - T(2) * s) * g;
    return K == 0 ? bent : K == 1 ? -bent : slope;
  }
};

/// A weight of the softmax times this share, and its cotangent. Both are 0 for a hidden key, even in a row of NaN.
struct weight_beside_sink {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& weight, T const& share) const {
    return weight == T(0) ? T(0) : weight * share;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& weight, T const& share, T const& g) const {
    return weight == T(0) ? T(0) : share * g;
  }
  template <int K, class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const& weight, T const& share, T const& g) const {
    return K == 0 || weight == T(0) ? T(0) : K == 1 ? g : share;
  }
};

}  // namespace detail

namespace operation {

/// Multiplies weights of keys by the share that the sinks leave to keys. `sums`: the logarithm of each row's sum.
struct weights_beside_sinks : detail::moves_nothing {
  static constexpr char const* name = "attention";
  template <class...>
  using verdict = reason::ok;

  template <class How, class Weights, class Sums, class Sinks>
  auto run(How const&, Weights const& weights, Sums const& sums, Sinks const& sinks) const {
    return ostraka::map(detail::weight_beside_sink{}, weights, ostraka::map(detail::share_beside_sink{}, sums, sinks));
  }
};

}  // namespace operation

namespace detail {

/// The softmax of scores, with or without a mask.
template <class Keys, class Scores, class... Mask>
constexpr auto softmax_of_scores(bool hides, Scores const& scores, Mask const&... mask) {
  return operate(operation::softmax<Keys>{{}, hides}, scores, mask...);
}

/// The softmax of scores whose rows have one more score, the sink, which belongs to no key.
template <class Keys, class Scores, class Sinks, class... Mask>
constexpr auto softmax_beside_sinks(bool hides, Scores const& scores, Sinks const& sinks, Mask const&... mask) {
  auto const sums = operate(operation::log_sum_exp<Keys>{}, scores, mask...);
  return operate(ostraka::operation::weights_beside_sinks{}, softmax_of_scores<Keys>(hides, scores, mask...), sums,
                 sinks);
}

/// The first fault of the operands of an attention with options, and of the tensors of its scores.
template <class Operation, class Attention, score_operand... Kinds>
struct scored_operands {
  static constexpr int of_attention = 1 + 2 * Attention::pairs;  ///< the number of operands before those of the scores

  template <class... Given, std::size_t... Is, std::size_t... Js>
  static consteval auto check(type_list<Given...>, std::index_sequence<Is...>, std::index_sequence<Js...>) {
    using own = typename Attention::template verdict<typename nth<static_cast<int>(Is), Given...>::type...>;
    if constexpr (!std::is_same_v<own, reason::ok>) {
      return found<own>{};
    } else {
      using TQ = typename nth<0, Given...>::type;
      using scores = typename Attention::template types<TQ, typename nth<1, Given...>::type,
                                                        typename nth<2, Given...>::type>::scores_tensor;
      return found<first_fault<
          reason::ok,
          typename decltype(check_score_elements<
                            Operation, Kinds, TQ,
                            typename nth<of_attention + static_cast<int>(Js), Given...>::type>())::type...,
          typename decltype(check_score_operand<
                            Operation, typename axis_argument<typename Attention::query_axis>::axis,
                            typename axis_argument<typename Attention::keys>::axis, scores, Kinds,
                            typename nth<of_attention + static_cast<int>(Js), Given...>::type>())::type...>>{};
    }
  }

  template <class... Given>
  using verdict = typename decltype(check(type_list<Given...>{}, std::make_index_sequence<of_attention>{},
                                          std::make_index_sequence<sizeof...(Kinds)>{}))::type;
};

/// The moves of an attention. With sinks they include the logarithms of its rows' sums.
template <class Types, class Keys, bool HasSinks>
struct moves_of_scored {
  using type = moves_in_turn<typename Types::moves_of_weights, typename Types::moves_of_result>;
};
template <class Types, class Keys>
struct moves_of_scored<Types, Keys, true> {
  using type =
      moves_in_turn<typename Types::moves_of_weights, moves_of_statistics<Keys, 2, typename Types::scores_tensor>,
                    typename Types::moves_of_result>;
};

}  // namespace detail

namespace operation {

/// `Attention` with tensors of these kinds after its operands, and with numbers that change its scores.
template <class Attention, detail::score_traits Traits, detail::score_operand... Kinds>
struct scored : Attention, detail::score_options {
  static constexpr char const* name = Attention::name;
  static constexpr bool has_cap = Traits.has_cap;
  using attention_type = Attention;
  using kinds = detail::score_operands<Kinds...>;

  template <class... Given>
  using verdict = typename detail::scored_operands<scored, Attention, Kinds...>::template verdict<Given...>;

  template <class TQ, class TK, class TV>
  static consteval auto find_moves() {
    if constexpr (is_tiled<TQ, TK, TV>)
      return std::type_identity<void>{};  // the price also depends on a window
    else
      return detail::moves_of_scored<typename Attention::template types<TQ, TK, TV>, typename Attention::keys,
                                     (kinds::count(detail::score_operand::sinks) > 0)>{};
  }
  template <class TQ, class TK, class TV, class... Others>
  using moves = typename decltype(find_moves<TQ, TK, TV>())::type;
  template <class TQ, class TK, class TV, class... Others>
  [[nodiscard]] constexpr detail::moves_of_call moved(TQ const& q, TK const& k, TV const& v,
                                                      Others const&... others) const {
    return in_tiles().moved(q, k, v, others...);
  }

  template <class How, class TQ, class TK, class TV, class... Others>
  auto run(How const&, TQ const& q, TK const& k, TV const& v, Others const&... others) const {
    if constexpr (is_tiled<TQ, TK, TV>)
      return detail::operate(in_tiles(), q, k, v, others...);
    else
      return Attention::template weighted<TQ, TK>(hides(), weights(scores(q, k, others...), others...), v);
  }

  /// True if this attention is computed in tiles, which skip keys that no query sees (scored_ring_attention.hpp).
  template <class TQ, class TK, class TV>
  static constexpr bool is_tiled = detail::tiles<Attention, Traits, Kinds...>::template are_possible<TQ, TK, TV>();
  [[nodiscard]] constexpr auto in_tiles() const { return detail::tiles<Attention, Traits, Kinds...>::of(*this); }

  /// True if some keys may be hidden from some queries.
  [[nodiscard]] constexpr bool hides() const {
    return Attention::is_causal || window < planner::seen_positions::any ||
           kinds::count(detail::score_operand::mask) > 0 || kinds::count(detail::score_operand::bias) > 0 ||
           kinds::count(detail::score_operand::key_segments) > 0;
  }

  /// Returns the scores. `others`: the rotary parts, if any, and the tensors of the scores.
  template <class TQ, class TK, class... Others>
  auto scores(TQ const& q, TK const& k, Others const&... others) const {
    using labels = union_of<axes_in<TQ>, axes_in<TK>, axes_in<Others>...>;
    using mesh = union_of<mesh_axes_in<TQ>, mesh_axes_in<TK>, mesh_axes_in<Others>...>;
    static_cast<void>(detail::context_of<labels, mesh>(name, q, k, others...));  // extents agree, before anything moves
    auto const all = std::tie(others...);
    Attention const& plain = *this;
    auto const made = [&]<std::size_t... Is>(std::index_sequence<Is...>) {
      return plain.scores(q, k, std::get<Is>(all)...);
    }
    (std::make_index_sequence<rotary>{});
    if (has_cap || sizeof...(Kinds) > 0 || hides()) [&]<std::size_t... Js>(std::index_sequence<Js...>) {
        this->score(made, detail::as_score_operand<Kinds>(std::get<rotary + Js>(all))...);
      }
    (std::make_index_sequence<sizeof...(Kinds)>{});
    return made;
  }

  /// Returns the softmax of scores.
  template <class Scores, class... Others>
  constexpr auto weights(Scores const& scores, Others const&... others) const {
    using along = typename Attention::keys;
    constexpr int sinks = kinds::find(detail::score_operand::sinks), mask = kinds::find(detail::score_operand::mask);
    auto const softmax = [&](auto const&... m) {
      if constexpr (sinks >= 0)
        return detail::softmax_beside_sinks<along>(hides(), scores, detail::widened(extra<sinks>(others...)), m...);
      else
        return detail::softmax_of_scores<along>(hides(), scores, m...);
    };
    if constexpr (mask >= 0)
      return softmax(extra<mask>(others...));
    else
      return softmax();
  }

 private:
  static constexpr std::size_t rotary = 2 * (Attention::pairs - 1);  ///< the number of operands of a second product

  /// Returns tensor number I of the scores.
  template <int I, class... Others>
  static constexpr auto const& extra(Others const&... others) {
    return std::get<rotary + static_cast<std::size_t>(I)>(std::tie(others...));
  }

  // Turns products into scores in place.
  template <class Scores, class... Tensors>
  void score(Scores const& products, Tensors const&... tensors) const {
    using labels = axes_in<Scores>;
    using mesh = union_of<mesh_axes_in<Scores>, mesh_axes_in<Tensors>...>;
    constexpr int queries = detail::dimension_of<typename Attention::query_axis, Scores>;
    static constexpr planner::spec s = spec_of<Scores, labels, mesh>;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, products, tensors...);
    for (int const d : {queries, Scores::rank - 1})
      detail::require_stripes(name, detail::names_of<labels>[static_cast<std::size_t>(d)],
                              { w.sizes.label[d], Attention::stripes });
    engine::score_rule<typename Scores::value_type> rule;
    rule.seen = {Attention::is_causal, window, first};
    rule.from = Attention::from;
    rule.stripes = Attention::stripes;
    rule.soft_cap = static_cast<typename Scores::value_type>(soft_cap);
    (detail::add_to_rule<Kinds>(rule,
                                engine::align(w, spec_of<Tensors, labels, mesh>, s, detail::elements_of(tensors))),
     ...);
    engine::score_pairs(detail::execution_space_of<Scores>(), w, s, queries, rule, products.local().data());
  }
};

}  // namespace operation

namespace detail {

template <class Attention, score_traits Traits, score_operand... Kinds>
auto scored_with(score_operands<Kinds...>) -> ostraka::operation::scored<Attention, Traits, Kinds...>;

/// `Attention` with these options.
template <class Attention, class... Options>
using scored_by =
    decltype(scored_with<Attention, score_traits{(std::is_same_v<Options, score_cap> || ...),
                                                 (is_striped<Options> || ...)}>(operands_of_options<Options...>{}));

/// Calls f(the operation with its options, the tensors among the options…); returns q if the options have a fault.
template <class Operation, class Q, class F, class... Options>
constexpr auto with_score_options(Q const& q, F const& f, Options const&... options) {
  if constexpr (reason::ok_or_raise<typename decltype(check_score_options<Operation, Options...>())::type>()) {
    Operation operation;
    (set_option(operation, options), ...);
    (set_stripes(operation, q, options), ...);
    return with_score_operands([&](auto const&... tensors) { return f(operation, tensors...); }, options...);
  } else {
    return q;
  }
}

template <class Q, class K, class D, class Out, class... Options>
  requires((is_score_option<Options> || ...) &&
           !(axis_argument<K>::mesh::size > 0 && (travels_in_ring<Options> || ...)))
struct attention_with<Q, K, D, Out, Options...> {
  template <class TQ, class TK, class TV>
  static constexpr auto run(TQ const& q, TK const& k, TV const& v, Options const&... options) {
    using operation_type = scored_by<ostraka::operation::attention<Q, K, D, Out>, Options...>;
    return with_score_options<operation_type>(
        q, [&](auto const& attention, auto const&... tensors) { return operate(attention, q, k, v, tensors...); },
        options...);
  }
};

template <class Q, class K, class D, class... Options>
  requires(is_score_option<Options> || ...)
struct latent_attention_with<Q, K, D, Options...> {
  template <class TQ, class TK, class TV, class TQR, class TKR>
  static constexpr auto run(TQ const& q, TK const& k, TV const& v, TQR const& q_rotary, TKR const& k_rotary,
                            Options const&... options) {
    using operation_type = scored_by<ostraka::operation::latent_attention<Q, K, D>, Options...>;
    return with_score_options<operation_type>(
        q,
        [&](auto const& attention, auto const&... tensors) {
          return operate(attention, q, k, v, q_rotary, k_rotary, tensors...);
        },
        options...);
  }
};

}  // namespace detail

}  // namespace ostraka
