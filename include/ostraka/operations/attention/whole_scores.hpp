// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The operation of os::attention that writes its scores: softmax over the keys of the products of queries and
/// keys, times values. Attention in tiles (tiled_attention.hpp) derives from it.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/algebra/einsum.hpp>
#include <ostraka/elements/cast.hpp>
#include <ostraka/engine/sequences/mask_later_keys.hpp>
#include <ostraka/operations/attention/weigh.hpp>
#include <ostraka/operations/normalisation/softmax.hpp>
#include <ostraka/operations/positions/rope.hpp>

namespace ostraka {

/// An option of os::attention: hides keys after the position of a query. The position of the first query is 0, or t
/// with os::from_position(t).
struct causal_mask {};
inline constexpr causal_mask causal{};

/// An option of os::attention: the factor of the scores; by default 1 / √(extent of D).
struct score_scale {
  double value;
};

namespace detail {

/// The base of attentions: the factor of the scores.
struct scaled_scores {
  bool has_scale = false;
  double scale = 1;  ///< factor of scores if `has_scale`; else 1 / √width

  [[nodiscard]] double scale_of(std::int64_t width) const {
    return has_scale ? scale : width > 0 ? 1 / std::sqrt(static_cast<double>(width)) : 1;
  }
};

/// Converts a tensor with 16-bit elements to float; returns other tensors unchanged.
template <class A>
auto widened(A const& a) {
  if constexpr (is_narrow<typename A::value_type>)
    return ostraka::cast<float>(a);
  else
    return a;
}

/// The axes, shardings and plans of an attention with valid operands. `Out`: the requested sharding, or void.
template <class DimQ, class DimK, class DimD, class Out, class TQ, class TK, class TV>
struct attention_types {
  using queries = typename axis_argument<DimQ>::axis;
  using keys = typename axis_argument<DimK>::axis;
  using width = typename axis_argument<DimD>::axis;
  using wide = accumulator_of_t<typename TQ::value_type>;

  using scores = with_entries_last<without_axis<sharding_in<TQ>, width>, DimK>;
  using rows = without_axis<scores, keys>;
  using values_alone = difference_of<axes_in<TV>, axes_in<scores>>;
  using as_queries =
      typename replace_entry<sharding_in<TQ>, width, typename entries_of<sharding_in<TV>, values_alone>::type>::type;
  using result =
      typename std::conditional_t<std::is_void_v<Out>, std::type_identity<as_queries>, std::type_identity<Out>>::type;

  template <class T>
  using as_wide = basic_tensor<wide, typename T::sharding_type, typename T::space>;
  using scores_tensor = basic_tensor<wide, varying_as<scores, TQ, TK>, typename TQ::space>;

  static constexpr bool keys_are_divided = axis_argument<DimK>::mesh::size > 0;
  static constexpr bool is_deferred = sharding_traits<result>::partials::size > 0;
  // Scores are summed over a divided width. Keys and values move only if the requested result needs it.
  using scores_policy =
      policy<axis_argument<DimD>::mesh::size == 0 ? planner::admit::no_communication : planner::admit::reduce_result>;
  using result_policy = policy<keys_are_divided && !is_deferred     ? planner::admit::reduce_result
                               : std::is_void_v<Out> || is_deferred ? planner::admit::no_communication
                                                                    : planner::admit::any>;

  using scores_verdict = einsum_verdict<varying_as<scores, TQ, TK>, scores_policy, as_wide<TQ>, as_wide<TK>>;
  using result_verdict =
      einsum_verdict<varying_as<result, scores_tensor, TV>, result_policy, scores_tensor, as_wide<TV>>;

  /// The moves of the scores and their softmax, and those of the weighted sum of values.
  using moves_of_scores = moves_of_product<varying_as<scores, TQ, TK>, scores_policy, as_wide<TQ>, as_wide<TK>>;
  using moves_of_weights = moves_in_turn<moves_of_scores, moves_of_statistics<DimK, 2, scores_tensor>>;
  using moves_of_result =
      moves_of_product<varying_as<result, scores_tensor, TV>, result_policy, scores_tensor, as_wide<TV>>;
};

template <class DimQ, class DimK, class DimD, class TQ, class TK, class TV>
consteval bool are_queries_keys_and_width() {
  using Q = typename axis_argument<DimQ>::axis;
  using K = typename axis_argument<DimK>::axis;
  using D = typename axis_argument<DimD>::axis;
  return position_in<K, axes_in<TQ>> < 0 && position_in<Q, axes_in<TK>> < 0 && position_in<Q, axes_in<TV>> < 0 &&
         difference_of<axes_in<TK>, union_of<axes_in<TQ>, type_list<K>>>::size == 0 && !std::is_same_v<Q, D>;
}

template <class I, class A>
consteval auto check_axis_of_attention() {
  if constexpr (!std::is_void_v<I> && position_in<I, axes_in<A>> < 0)
    return found<reason::attention_lacks_axis<I, sharding_in<A>>>{};
  else
    return found<reason::ok>{};
}

/// `reason::ok` if queries, keys and values have the axes named in the call. Another check refuses arguments that are
/// not axes.
template <class DimQ, class DimK, class DimD, class TQ, class TK, class TV>
using attention_axes_verdict =
    first_fault<typename decltype(check_axis_of_attention<typename axis_argument<DimQ>::axis, TQ>())::type,
                typename decltype(check_axis_of_attention<typename axis_argument<DimD>::axis, TQ>())::type,
                typename decltype(check_axis_of_attention<typename axis_argument<DimK>::axis, TK>())::type,
                typename decltype(check_axis_of_attention<typename axis_argument<DimD>::axis, TK>())::type,
                typename decltype(check_axis_of_attention<typename axis_argument<DimK>::axis, TV>())::type>;

template <class Operation, class DimQ, class DimK, class DimD, class TQ, class TK, class TV>
consteval auto check_attention_operands() {
  using own = first_fault<
      typename sharding_traits<sharding_in<TQ>>::verdict, typename sharding_traits<sharding_in<TK>>::verdict,
      typename sharding_traits<sharding_in<TV>>::verdict, attention_axes_verdict<DimQ, DimK, DimD, TQ, TK, TV>,
      bare_axis_verdict<Operation, DimQ, TQ>, axis_argument_verdict<Operation, DimK, TK>,
      axis_argument_verdict<Operation, DimK, TV>, axis_argument_verdict<Operation, DimD, TQ>,
      axis_argument_verdict<Operation, DimD, TK>, elements_verdict<TQ, TK, TV>, fractions_verdict<Operation, TQ>,
      whole_values_verdict<Operation, TQ>, whole_values_verdict<Operation, TK>, whole_values_verdict<Operation, TV>,
      blocks_verdict<sharding<>, TQ, TK, TV>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (!are_queries_keys_and_width<DimQ, DimK, DimD, TQ, TK, TV>())
    return found<reason::queries_and_keys_are_confused<sharding_in<TQ>, sharding_in<TK>, sharding_in<TV>>>{};
  else
    return found<reason::ok>{};
}

/// The first fault of the operands of an attention. Ring attention uses it, too.
template <class Operation, class DimQ, class DimK, class DimD, class TQ, class TK, class TV>
using attention_operands_verdict =
    typename decltype(check_attention_operands<Operation, DimQ, DimK, DimD, TQ, TK, TV>())::type;

template <class Operation, class DimQ, class DimK, class DimD, class Out, class TQ, class TK, class TV, class... Mask>
consteval auto check_attention() {
  using own = attention_operands_verdict<Operation, DimQ, DimK, DimD, TQ, TK, TV>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else {
    using types = attention_types<DimQ, DimK, DimD, Out, TQ, TK, TV>;
    using both = common_of<typename axis_argument<DimK>::mesh, mesh_axes_in<TQ>>;
    if constexpr (both::size > 0)
      return found<
          reason::keys_are_divided_as_queries<typename type_at<both, 0>::type, sharding_in<TQ>, sharding_in<TK>>>{};
    else if constexpr (!std::is_same_v<typename types::scores_verdict, reason::ok>)
      return found<typename types::scores_verdict>{};
    else
      return found<first_fault<typename types::result_verdict,
                               mask_verdict<Operation, typename types::scores_tensor, Mask>...>>{};
  }
}

}  // namespace detail

namespace operation {

template <class Q, class K, class D, class Out = void>
struct attention : detail::scaled_scores {
  static constexpr char const* name = "attention";
  static constexpr int pairs = 1;  ///< number of operand pairs that are multiplied for the scores

  bool is_causal = false;
  std::int64_t from = 0;     ///< the position of the first query, for the causal mask
  std::int64_t stripes = 0;  ///< number of devices over which queries and keys are striped

  template <class TQ, class TK, class TV, class... Mask>
  using verdict = typename decltype(detail::check_attention<attention, Q, K, D, Out, TQ, TK, TV, Mask...>())::type;

  using query_axis = Q;
  using keys = K;
  using width_axis = D;
  template <class TQ, class TK, class TV>
  using types = detail::attention_types<Q, K, D, Out, TQ, TK, TV>;
  template <class TQ, class TK, class TV, class... Mask>
  using moves =
      detail::moves_in_turn<typename types<TQ, TK, TV>::moves_of_weights, typename types<TQ, TK, TV>::moves_of_result>;

  template <class How, class TQ, class TK, class TV, class... Mask>
  auto run(How const&, TQ const& q, TK const& k, TV const& v, Mask const&... mask) const {
    return weighted<TQ, TK>(hides(mask...), weights_of(scores(q, k), mask...), v);
  }

  /// True if some keys are hidden from some queries.
  template <class... Mask>
  [[nodiscard]] constexpr bool hides(Mask const&...) const {
    return is_causal || sizeof...(Mask) > 0;
  }

  /// Returns the scores of the keys for each query.
  template <class TQ, class TK>
  auto scores(TQ const& q, TK const& k) const {
    return products(q, k, factor_of(q));
  }

  /// Returns the weights of the keys for each query: the softmax of the scores.
  template <class TQ, class TK, class... Mask>
  auto weights(TQ const& q, TK const& k, Mask const&... mask) const {
    return weights_of(scores(q, k), mask...);
  }

  /// Returns the factor of the products of these queries with keys.
  template <class TQ, class... Others>
  [[nodiscard]] double factor_of(TQ const& q, Others const&...) const {
    return scale_of(width_of(q));
  }

 protected:
  template <class TQ>
  static std::int64_t width_of(TQ const& q) {
    return q.extents()[static_cast<std::size_t>(detail::dimension_of<D, TQ>)];
  }

  /// Returns the scores.
  template <class TQ, class TK>
  static auto products(TQ const& q, TK const& k, double factor) {
    using of_scores = types<TQ, TK, TK>;
    return product<varying_as<typename of_scores::scores, TQ, TK>, typename of_scores::scores_policy>(
        factor, detail::widened(q), detail::widened(k));
  }

  /// Returns the softmax of scores. Overwrites the scores.
  template <class Scores, class... Mask>
  auto weights_of(Scores const& scores, Mask const&... mask) const {
    if (is_causal) hide_later(scores);
    return detail::operate(softmax<K>{{}, is_causal}, scores, mask...);
  }

  template <class TQ, class TK, class Weights, class TV>
  static auto weighted(bool hides, Weights const& weights, TV const& v) {
    using of_result = types<TQ, TK, TV>;
    using T = typename TQ::value_type;
    auto const result =
        detail::weigh<varying_as<typename of_result::result, TQ, TK, TV>, typename of_result::result_policy>(
            name, hides, weights, detail::widened(v));
    if constexpr (std::is_same_v<T, typename of_result::wide>)
      return result;
    else
      return ostraka::cast<T>(result);
  }

 private:
  template <class Result, class Policy, class A, class B>
  static auto product(double factor, A const& a, B const& b) {
    return detail::einsum_of<Result, Policy, reduction::sum, type_list<A, B>>::run(
        name, {static_cast<typename A::value_type>(factor)}, a, b);
  }

  template <class Scores>
  void hide_later(Scores const& scores) const {
    using labels = axes_in<Scores>;
    using mesh = mesh_axes_in<Scores>;
    constexpr int queries = detail::dimension_of<Q, Scores>;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, scores);
    detail::require_stripes(name, detail::names_of<labels>[queries], { w.sizes.label[queries], stripes });
    detail::require_stripes(name, detail::names_of<labels>[Scores::rank - 1],
                            { w.sizes.label[Scores::rank - 1], stripes });
    engine::mask_later_keys(detail::execution_space_of<Scores>(), w, spec_of<Scores, labels, mesh>, queries, from,
                            scores.local().data(), stripes);
  }
};

}  // namespace operation

namespace detail {

template <class Q, class K, class D, class Out>
constexpr void set_option(operation::attention<Q, K, D, Out>& operation, causal_mask const&) {
  operation.is_causal = true;
}
constexpr void set_option(scaled_scores& operation, score_scale const& scale) {
  operation.has_scale = true;
  operation.scale = scale.value;
}
template <class Q, class K, class D, class Out, class... Ms>
constexpr void set_option(operation::attention<Q, K, D, Out>&, striped_over<Ms...> const&) {}  // set_stripes sets it

template <class Operation, class... Options>
consteval auto check_attention_options() {
  using own = typename decltype(check_options<Operation, reason::not_an_option_of_attention, Options...>())::type;
  constexpr bool has_position = (std::is_same_v<Options, from_position> || ...);
  if constexpr (std::is_same_v<own, reason::ok> && has_position && !(std::is_same_v<Options, causal_mask> || ...))
    return found<reason::position_without_causal<Operation>>{};
  else
    return found<own>{};
}
template <class Operation, class... Options>
using attention_options_verdict = typename decltype(check_attention_options<Operation, Options...>())::type;

template <auto... Out>
struct result_argument {
  using type = sharding_of<Out...>;
};
template <>
struct result_argument<> {
  using type = void;
};

/// True for an option that makes keys and values travel (ring_attention.hpp).
template <class Option>
inline constexpr bool travels_in_ring = false;

/// True for an option that hides single keys, or changes the order of all keys.
template <class Option>
inline constexpr bool needs_whole_scores = TensorOrVariable<Option>;
template <class... Ms>
inline constexpr bool needs_whole_scores<striped_over<Ms...>> = true;

/// Runs attention with these options (attention.hpp). Specialisations run rings and options of scores.
template <class Q, class K, class D, class Out, class... Options>
struct attention_with;

}  // namespace detail

}  // namespace ostraka
