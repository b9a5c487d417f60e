// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::route<E, K>(logits, K = 2)`: the K experts of each token, and the weights of their results, with
/// derivatives through these weights; and the auxiliary losses of a router. All of them are composed of other
/// operations.
///
///     probabilities = softmax<E>(logits)                        logits[B_X, S, E]
///     weights, experts = top_k<E, K>(probabilities)             [B_X, S, K]
///     load_balance_loss = |E| Σ_e f_e P_e                       Switch Transformers (2021), equation 4
///     router_z_loss = mean of (log Σ_e exp(logits))²            ST-MoE (2022), equation 5

#include <cstdint>
#include <type_traits>

#include <ostraka/algebra/einsum.hpp>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/blocks/fill.hpp>
#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/elements/cast.hpp>
#include <ostraka/operations/elements/functions.hpp>
#include <ostraka/operations/indices/scatter_add.hpp>
#include <ostraka/operations/normalisation/softmax.hpp>
#include <ostraka/operations/reductions/sort.hpp>

namespace ostraka {

/// The result of os::route.
template <class Weights, class Experts, class Probabilities>
struct routing {
  Weights weights;              ///< […, K]: the weights of the results of the chosen experts
  Experts experts;              ///< […, K]: the chosen experts, the most probable first
  Probabilities probabilities;  ///< […, E]: of all experts
};

namespace detail {

struct renormalised_weights {};
template <>
inline constexpr bool is_option<renormalised_weights> = true;

}  // namespace detail

/// Option of os::route, after the logits: the weights of a token's choices add up to one (Mixtral), instead of being
/// probabilities of all experts (Switch, GShard).
inline constexpr detail::renormalised_weights renormalised{};

/// The K most probable experts of each token: `auto const r = os::route<E, K>(logits, K = 2)`. E is whole, and nothing
/// moves. Among equal probabilities the first expert is chosen. A token with a NaN among its logits goes to the first K
/// experts with weights of NaN, and affects no other token's results. Takes os::renormalised as the last argument.
template <auto E, auto K, TensorOrVariable A, class... Given>
[[nodiscard]] constexpr auto route(A const& logits, Given const&... given) {
  auto const probabilities = softmax<E>(logits);
  auto const extents =
      collect_sizes(detail::extents_beside<std::is_same_v<Given, detail::renormalised_weights>>(given)...);
  auto const best = top_k<E, K>(probabilities, extents);
  auto const experts = best.indices;
  auto const made = [&](auto const& weights) {
    return routing<std::remove_cvref_t<decltype(weights)>, std::remove_const_t<decltype(experts)>,
                   std::remove_const_t<decltype(probabilities)>>{weights, experts, probabilities};
  };
  if constexpr ((std::is_same_v<Given, detail::renormalised_weights> || ...)) {
    using rows = detail::without_axis<sharding_in<A>, detail::type_of<E>>;
    return made(divide(best.values, detail::operate(operation::reduce<reduction::sum, rows>{}, best.values, cheapest)));
  } else {
    return made(best.values);
  }
}

/// The total number of choices that fall on each expert: `os::expert_load<E>(experts, E = 64)`, [E] on every device.
/// Moves one number for each expert over the mesh axes that divide the tokens.
template <auto E, Tensor Experts, class... Given>
[[nodiscard]] auto expert_load(Experts const& experts, Given const&... given) {
  auto const ones = [&] {
    if constexpr (std::is_same_v<typename Experts::value_type, std::int64_t>)
      return detail::uninitialised_like(experts);
    else
      return cast<std::int64_t>(experts);
  }();
  detail::fill_block("expert_load", ones, std::int64_t(1));
  return scatter_add<E, E>(ones, experts, given..., in_range);
}

namespace detail {

template <auto E, class Experts, class Probabilities>
auto balance_of(Experts const& experts, Probabilities const& probabilities) {
  using axis = type_of<E>;
  constexpr auto at = static_cast<std::size_t>(position_in<axis, axes_in<Probabilities>>);
  std::int64_t const all = probabilities.extents()[at];
  double tokens = 1, choices = 1;
  for (std::size_t i = 0; i < probabilities.extents().size(); ++i)
    if (i != at) tokens *= static_cast<double>(probabilities.extents()[i]);
  for (std::int64_t const n : experts.extents()) choices *= static_cast<double>(n);
  auto const load = cast<typename Probabilities::value_type>(expert_load<E>(experts, E = all));
  auto const mean = operate(operation::reduce<reduction::sum, sharding<axis>>{}, probabilities, cheapest);
  return scale(ostraka::einsum<>(load, mean), static_cast<double>(all) / (tokens * choices));
}

}  // namespace detail

/// |E| Σ_e f_e P_e, where f_e is the share of all choices that fall on expert e (a constant) and P_e the mean of its
/// probability. It is 1 if all experts get the same number, |E| if one gets all. Its gradient drives the router to
/// balance. Elements of 16 bits are computed in float.
template <auto E, class Weights, class Experts, class Probabilities>
[[nodiscard]] auto load_balance_loss(routing<Weights, Experts, Probabilities> const& r) {
  using T = typename Probabilities::value_type;
  if constexpr (is_narrow<T>)
    return cast<T>(detail::balance_of<E>(r.experts, cast<float>(r.probabilities)));
  else
    return detail::balance_of<E>(r.experts, r.probabilities);
}

/// The mean of (log Σ exp(logits))² over the tokens. It keeps logits small.
template <auto E, TensorOrVariable A>
[[nodiscard]] constexpr auto router_z_loss(A const& logits) {
  auto const z = log_sum_exp<E>(logits);
  return mean<>(multiply(z, z), policy<planner::admit::any>{});
}

}  // namespace ostraka
