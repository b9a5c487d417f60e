// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of os::attention with os::ring. The forward keeps queries, keys, values, the result and a
/// number for each query, l = log Σ exp. Weights are recomputed, because no device has all of them:
///
///     P = exp(S − l),  dS = scale · P (dO V − Σ dO O)         dQ += dS K,  dK += dS Q,  dV += P dO
///
/// Keys and values circulate again. The cotangents of a part travel with it, and end at its home. Second derivatives
/// are those of attention to gathered keys.

#include <tuple>
#include <type_traits>

#include <ostraka/gradient/rules/composed.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_attention.hpp>
#include <ostraka/operations/attention/ring_attention.hpp>

namespace ostraka {

namespace detail {

template <class Vjp, class Result, class LogSums, class Q, class K, class V>
struct ring_pullback {
  Vjp back;
  kept<true, Q> q;
  kept<true, K> k;
  kept<true, V> v;
  remembered<Result> result;
  remembered<LogSums> log_sums;

  template <class G>
  constexpr auto pull_all(G const& given) const {
    auto const g = reshard_as<sharding_in<Result>>(given);
    auto const all = operate(back, q.get(), k.get(), v.get(), result.get(), log_sums.get(), g);
    return std::tuple(all.first, all.second, all.third);
  }
};

/// True for a variable of a variable, that is, for a second derivative.
template <class T>
inline constexpr bool is_nested = false;
template <class T, class Cotangent>
inline constexpr bool is_nested<variable<T, Cotangent>> = is_variable<T> && !is_abstract<T>;
template <class... Ts>
inline constexpr bool any_nested = (is_nested<Ts> || ...);

/// Keys or values whose axis is whole.
template <class Axis, class A>
auto whole_along(A const& a) {
  return reshard_as<typename replace_entry<sharding_in<A>, Axis, sharding<Axis>>::type>(a);
}

/// Sets the number of devices over which a ring's sequences are striped, for attention to gathered keys.
template <class Way, class Attention, class Q, class... Ms>
void stripe_as_ring([[maybe_unused]] Attention& gathered, [[maybe_unused]] Q const& q, type_list<Ms...>) {
  if constexpr (Way::is_striped) gathered.stripes = devices_along<Ms...>(Attention::name, q);
}

}  // namespace detail

template <class Q, class K, class D, class Way>
struct derivative_of<operation::ring_attention<Q, K, D, Way>> {
  using operation_type = operation::ring_attention<Q, K, D, Way>;
  using vjp = operation::ring_attention_vjp<Q, K, D, Way>;

  template <class TQ, class TK, class TV>
    requires detail::any_nested<TQ, TK, TV>
  static auto composed(operation_type const& operation, TQ const& q, TK const& k, TV const& v) {
    using axis = typename detail::axis_argument<K>::axis;
    using mesh = typename detail::axis_argument<K>::mesh;
    operation::attention<Q, axis, D> gathered;
    gathered.is_causal = Way::is_causal;
    gathered.has_scale = operation.has_scale;
    gathered.scale = operation.scale;
    detail::stripe_as_ring<Way>(gathered, q, mesh{});
    return detail::operate(gathered, q, detail::whole_along<axis>(k), detail::whole_along<axis>(v));
  }

  template <class Result, class LogSums, class TQ, class TK, class TV>
  static constexpr auto pullback(operation_type const& operation, detail::several<Result, LogSums> const& made,
                                 TQ const& q, TK const& k, TV const& v) {
    double scale = 1;
    if constexpr (!is_abstract<Result>) scale = operation.factor_of(q);
    return detail::ring_pullback<vjp, Result, LogSums, TQ, TK, TV>{{scale},
                                                                   detail::remember(q),
                                                                   detail::remember(k),
                                                                   detail::remember(v),
                                                                   detail::remembered<Result>(made.first),
                                                                   detail::remembered<LogSums>(made.second)};
  }
};

}  // namespace ostraka
