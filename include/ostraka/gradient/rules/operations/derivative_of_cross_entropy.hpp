// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of os::cross_entropy: g ((1 + 2 z l) exp(x − l) − q), where l is the row's log Σ exp(x), z
/// is the factor of the z-loss, and q is the target: ε / V, and 1 − ε more at the label. The forward computes l and
/// keeps it, one number a row. So the backward reads logits once, writes their cotangents, and moves nothing.

#include <type_traits>

#include <ostraka/gradient/rules/operations/derivative_of_softmax.hpp>
#include <ostraka/operations/creation/iota.hpp>

namespace ostraka {

namespace detail {

template <class Along, class LogSum, class A, class Labels>
struct cross_entropy_pullback {
  ostraka::operation::cross_entropy_vjp<Along> back;
  remembered<LogSum> log_sum;
  kept<true, A> logits;
  kept<true, Labels> labels;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return summed_to<Wanted>(operate(back, logits.get(), log_sum.get(), g, labels.get()));
  }
};

/// 0 for rows without a class, else 1.
struct is_counted {
  bool ignores;
  std::int64_t ignored;
  template <class T, class Label>
  KOKKOS_INLINE_FUNCTION T operator()(T const& g, Label const& label) const {
    return ignores && static_cast<std::int64_t>(label) == ignored ? T(0) : g;
  }
  template <int K, class T, class Label>
  KOKKOS_INLINE_FUNCTION T derivative(T const&, Label const& label) const {
    return T(static_cast<float>(K == 0 && !(ignores && static_cast<std::int64_t>(label) == ignored)));
  }
};

/// g (1 + 2 z l)
struct slope_of_loss {
  double z;
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& g, T const& l) const {
    return z == 0 || l == engine::detail::minus_infinity<T> ? g : g * (T(1) + T(2 * z) * l);
  }
  template <int K, class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const& g, T const& l) const {
    if (z == 0 || l == engine::detail::minus_infinity<T>) return K == 0 ? T(1) : T(0);
    return K == 0 ? T(1) + T(2 * z) * l : T(2 * z) * g;
  }
};

/// The target's probability of a class, for the label's class (1) or another one (0).
struct smoothed_target {
  double of_label, everywhere;
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& hot) const {
    return T(of_label) * hot + T(everywhere);
  }
};

struct cross_entropy_vjp_by_parts {
  template <class Along, class A, class LogSum, class G, class Labels>
  constexpr auto operator()(ostraka::operation::cross_entropy_vjp<Along> const& operation, A const& x,
                            LogSum const& log_sum, G const& g, Labels const& labels) const {
    using T = accumulator_of_t<typename A::value_type>;
    using I = typename axis_argument<Along>::axis;
    auto const& forward = operation.forward;
    auto const counted = ostraka::map(is_counted{forward.ignores, forward.ignored}, as_wide(g), labels);
    auto const label = ostraka::map(drop_ignored{forward.ignores ? forward.ignored : -1}, labels);
    std::int64_t const classes = x.extents()[static_cast<std::size_t>(position_in<I, axes_in<A>>)];
    auto const hot = ostraka::one_hot<T, Along{}>(label, I{} = classes);
    auto const wide = as_wide(x);
    auto const slope = ostraka::map(slope_of_loss{forward.z_factor}, counted, log_sum);
    auto const shares = ostraka::map(share_of_row{}, wide, log_sum, slope);
    smoothed_target const share{1 - forward.smoothing, forward.smoothing / static_cast<double>(classes)};
    auto const target = ostraka::map(share, hot);
    return as_elements<typename A::value_type>(ostraka::subtract(shares, ostraka::multiply(counted, target)));
  }
};

}  // namespace detail

template <class Along>
struct derivative_of<operation::cross_entropy<Along>> {
  using cross_entropy = operation::cross_entropy<Along>;

  /// The result with its residuals, for variables of an outer derivative.
  template <class A, class Labels>
  static constexpr auto with_residuals(cross_entropy const& operation, A const& a, Labels const& labels) {
    auto const log_sum = ostraka::log_sum_exp<Along{}>(detail::as_wide(a));
    auto const loss = detail::operate(operation, a, labels);
    return detail::several{loss, log_sum};
  }

  template <class Loss, class LogSum, class A, class Labels>
  static constexpr auto pullback(cross_entropy const& operation, detail::several<Loss, LogSum> const& made, A const& a,
                                 Labels const& labels) {
    return detail::cross_entropy_pullback<Along, LogSum, A, Labels>{
        {{}, {}, operation}, detail::remembered<LogSum>(made.second), detail::remember(a), detail::remember(labels)};
  }
};

template <class Along>
struct derivative_of<operation::cross_entropy_vjp<Along>>
    : detail::composed_derivative<operation::cross_entropy_vjp<Along>, detail::cross_entropy_vjp_by_parts> {};

}  // namespace ostraka
