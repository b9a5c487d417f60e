// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of os::softmax, os::log_softmax and os::log_sum_exp, for cotangents g:
///
///     s = softmax x       s (g − Σ g s)         keeps s
///     y = log_softmax x   g − exp(y) Σ g        keeps y
///     l = log_sum_exp x   g exp(x − l)          keeps x and l
///
/// The first two take one pass, and if the axis is divided, one number a row moves. The third moves nothing. Elements
/// that a mask hides have the derivative 0.

#include <tuple>
#include <type_traits>

#include <ostraka/elements/cast.hpp>
#include <ostraka/gradient/rules/composed.hpp>
#include <ostraka/gradient/rules/derivative_of.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_functions.hpp>
#include <ostraka/gradient/rules/operations/recorded_rows.hpp>
#include <ostraka/operations/normalisation/row_derivatives.hpp>
#include <ostraka/operations/normalisation/softmax.hpp>

namespace ostraka {

namespace detail {

template <class Operation, class Result>
struct rows_pullback {
  Operation back;
  kept<true, Result> result;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return summed_to<Wanted>(operate(back, result.get(), g));
  }
};

/// exp(x − l) g, or 0 if x is −∞ or hidden.
struct share_of_row {
  template <class T>
  static KOKKOS_INLINE_FUNCTION T share(T x, T l) {
    T const e = engine::exp(x - l);
    return x == engine::detail::minus_infinity<T> ? T(0) : e;
  }
  template <class T, class... Mask>
  KOKKOS_INLINE_FUNCTION T operator()(T const& x, T const& l, T const& g, Mask const&... mask) const {
    T const e = ((mask == Mask(0)) || ...) ? T(0) : share(x, l);
    return e == T(0) ? T(0) : e * g;
  }
  template <int K, class T, class... Mask>
  KOKKOS_INLINE_FUNCTION T derivative(T const& x, T const& l, T const& g, Mask const&... mask) const {
    T const e = ((mask == Mask(0)) || ...) ? T(0) : share(x, l);
    T const pulled = e == T(0) ? T(0) : e * g;
    return K == 0 ? pulled : K == 1 ? -pulled : e;
  }
};

/// `Mask` is a tensor, or none.
template <class Along, class Result, class A, class... Mask>
struct log_sum_exp_pullback {
  kept<true, Result> sum;
  kept<true, A> a;
  std::tuple<kept<true, Mask>...> mask;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    auto const x = a.get();
    using T = typename A::value_type;
    auto const pulled = [&](auto const&... m) {
      if constexpr (std::is_same_v<T, accumulator_of_t<T>>)
        return ostraka::map(share_of_row{}, x, sum.get(), g, m.get()...);
      else  // a 16-bit sum is rounded too much to be subtracted
        return ostraka::multiply(operate(ostraka::operation::softmax<Along>{}, x, m.get()...), g);
    };
    return summed_to<Wanted>(std::apply(pulled, mask));
  }
};

/// s g, or 0 if s is 0: a hidden element does not contribute, even if its cotangent is NaN.
struct weighed_cotangent {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& s, T const& g) const {
    return s == T(0.0f) ? T(0.0f) : T(s * g);
  }
  template <int K, class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const& s, T const& g) const {
    return K == 1 ? s : s == T(0.0f) ? T(0.0f) : g;
  }
};

struct softmax_vjp_by_parts {
  template <class Along, class S, class G>
  constexpr auto operator()(ostraka::operation::softmax_vjp<Along> const& operation, S const& s, G const& g) const {
    auto const gs = ostraka::map(weighed_cotangent{}, s, g);
    auto const row = sum_as<rows_of<Along, S>>(gs);
    return ostraka::scale(ostraka::subtract(gs, ostraka::multiply(s, row)), operation.factor);
  }
};

/// exp(y), or 0 if y is −∞; with g: g if y is not −∞, else 0.
struct part_of_row {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& y, T const& g) const {
    return y == T(engine::detail::minus_infinity<accumulator_of_t<T>>) ? T(0) : g;
  }
  template <int K, class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const& y, T const&) const {
    return T(static_cast<float>(K == 1 && !(y == T(engine::detail::minus_infinity<accumulator_of_t<T>>))));
  }
};

struct log_softmax_vjp_by_parts {
  template <class Along, class Y, class G>
  constexpr auto operator()(ostraka::operation::log_softmax_vjp<Along> const&, Y const& y, G const& g) const {
    auto const seen = ostraka::map(part_of_row{}, y, g);
    auto const row = sum_as<rows_of<Along, Y>>(seen);
    return ostraka::subtract(seen, ostraka::multiply(ostraka::map(ostraka::exp, y), row));
  }
};

/// The formulas of softmax and log_softmax for functions that record them for all shardings.
struct softmax_rule {
  template <class T>
  static engine::softmax_formula<T> formula(bool hides) {
    return {hides};
  }
  template <class T>
  static engine::softmax_cotangents<T> cotangents() {
    return {T(1)};
  }
};
struct log_softmax_rule {
  template <class T>
  static engine::log_softmax_formula<T> formula(bool hides) {
    return {hides};
  }
  template <class T>
  static engine::log_softmax_cotangents<T> cotangents() {
    return {};
  }
};

/// A softmax of a variable of the only derivative as constants. `Back`: its vjp.
template <class Along, class Operation, class Back, class A>
struct softmax_of_variable {
  using tensor_type = plain_type<A>;
  using value = typename tensor_type::value_type;
  using to_operand = find_conversion<tensor_type, typename A::cotangent_type>;
  static constexpr rows_and_derivative<value, typename tensor_type::space> constants{
      Operation::name, Back::name, &type_mark<tensor_type>, axis_call_of<Along, tensor_type>,
      to_operand::as_constant()};
};

template <class Operation, class A>
consteval bool check_shared_softmax() {
  if constexpr (!may_share_rows<A>)
    return false;
  else if constexpr (!check_shared_rows<Operation, plain_type<A>>())
    return false;
  else
    return find_conversion<plain_type<A>, typename A::cotangent_type>::is_planned();
}

/// The record of softmax and log_softmax without a mask.
template <class Rule, class Along, class Operation, class Back>
struct recorded_softmax {
  template <class A>
    requires(check_shared_softmax<Operation, A>())
  static auto record(Operation const& operation, A const& a) {
    using shared = softmax_of_variable<Along, Operation, Back, A>;
    variable<typename shared::tensor_type> y;
    without_names<typename shared::tensor_type>& value = y.writable_value();
    bool hides = false;
    if constexpr (requires { operation.hides; }) hides = operation.hides;
    record_softmax<Rule>(shared::constants, hides, as_shared_operand(a), value, y.writable_place());
    return y;
  }
};

}  // namespace detail

template <class Along>
struct derivative_of<operation::softmax<Along>>
    : detail::recorded_softmax<detail::softmax_rule, Along, operation::softmax<Along>, operation::softmax_vjp<Along>> {
  template <class Result, class... Given>  // a tensor, and perhaps a mask: the elements that it hides are zero in s
  static constexpr auto pullback(operation::softmax<Along> const&, Result const& s, Given const&...) {
    return detail::rows_pullback<operation::softmax_vjp<Along>, Result>{{}, detail::remember(s)};
  }
};

template <class Along>
struct derivative_of<operation::log_softmax<Along>>
    : detail::recorded_softmax<detail::log_softmax_rule, Along, operation::log_softmax<Along>,
                               operation::log_softmax_vjp<Along>> {
  template <class Result, class... Given>
  static constexpr auto pullback(operation::log_softmax<Along> const&, Result const& y, Given const&...) {
    return detail::rows_pullback<operation::log_softmax_vjp<Along>, Result>{{}, detail::remember(y)};
  }
};

template <class Along>
struct derivative_of<operation::log_sum_exp<Along>> {
  template <class Result, class A, class... Mask>
  static constexpr auto pullback(operation::log_sum_exp<Along> const&, Result const& l, A const& a,
                                 Mask const&... mask) {
    return detail::log_sum_exp_pullback<Along, Result, A, Mask...>{
        detail::remember(l), detail::remember(a), {detail::remember(mask)...}};
  }
};

template <class Along>
struct derivative_of<operation::softmax_vjp<Along>>
    : detail::composed_derivative<operation::softmax_vjp<Along>, detail::softmax_vjp_by_parts> {};
template <class Along>
struct derivative_of<operation::log_softmax_vjp<Along>>
    : detail::composed_derivative<operation::log_softmax_vjp<Along>, detail::log_softmax_vjp_by_parts> {};

}  // namespace ostraka
