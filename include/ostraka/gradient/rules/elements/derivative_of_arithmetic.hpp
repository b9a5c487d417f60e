// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of arithmetic: add, subtract, negate, scale, multiply and divide, with variables, constants
/// and numbers. Cotangents are summed over the axes along which an operand was repeated.

#include <ostraka/gradient/cotangents/as.hpp>

namespace ostraka {

namespace detail {

/// The pullback of operations that are ±x in each operand: g ↦ sign · g.
template <int... Signs>
struct linear_pullback {
  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    constexpr int signs[] = {Signs...};
    if constexpr (signs[K] > 0)
      return summed_to<Wanted>(g);
    else
      return ostraka::negate(summed_to<Wanted>(g));
  }
};

template <int... Signs>
struct linear_derivative {
  template <class Operation, class Result, class... Given>
  static constexpr auto pullback(Operation const&, Result const&, Given const&...) {
    return linear_pullback<Signs...>{};
  }
};

/// The pullback of x ↦ factor · x.
template <class Number>
struct scaled_pullback {
  Number factor;
  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return ostraka::scale(summed_to<Wanted>(g), factor);
  }
};

struct as_planned {
  template <class Sharding, class A, class B>
  static constexpr auto multiply(A const& a, B const& b) {
    return einsum_as<Sharding>(a, b);
  }
};

/// The pullback of a · b: the cotangent times the other operand, summed in one einsum, which `Einsum` makes.
template <class A, class B, class Einsum = as_planned>
struct product_pullback {
  kept<is_variable<B>, A> a;
  kept<is_variable<A>, B> b;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if constexpr (K == 0)
      return Einsum::template multiply<sharding_in<Wanted>>(g, b.get());
    else
      return Einsum::template multiply<sharding_in<Wanted>>(g, a.get());
  }
};

/// The pullback of a / b: g / b and −g (a / b) / b.
template <class Quotient, class A, class B>
struct quotient_pullback {
  kept<is_variable<B>, Quotient> quotient;
  kept<true, B> b;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if constexpr (K == 0)
      return summed_to<Wanted>(ostraka::divide(g, b.get()));
    else
      return ostraka::negate(summed_to<Wanted>(ostraka::divide(ostraka::multiply(g, quotient.get()), b.get())));
  }
};

}  // namespace detail

template <>
struct derivative_of<operation::add> : detail::linear_derivative<1, 1> {};
template <>
struct derivative_of<operation::subtract> : detail::linear_derivative<1, -1> {};
template <>
struct derivative_of<operation::negate> : detail::linear_derivative<-1> {};

template <>
struct derivative_of<operation::scale> {
  template <class Operation, class Result, class A, class B>
  static constexpr auto pullback(Operation const&, Result const&, A const& a, B const& b) {
    if constexpr (detail::is_number<A>)
      return detail::scaled_pullback<A>{a};
    else
      return detail::scaled_pullback<B>{b};
  }
};

template <>
struct derivative_of<operation::multiply> {
  template <class Result, class A, class B>
  static constexpr auto pullback(operation::multiply, Result const& r, A const& a, B const& b) {
    if constexpr (detail::is_number<A> || detail::is_number<B>)
      return derivative_of<operation::scale>::pullback(operation::scale{}, r, a, b);
    else
      return detail::product_pullback<A, B>{detail::remember_if<is_variable<B>>(a),
                                          detail::remember_if<is_variable<A>>(b)};
  }
};

template <>
struct derivative_of<operation::divide> {
  template <class Result, class A, class B>
  static constexpr auto pullback(operation::divide, Result const& quotient, A const&, B const& b) {
    return detail::quotient_pullback<Result, A, B>{detail::remember_if<is_variable<B>>(quotient), detail::remember(b)};
  }
};

}  // namespace ostraka
