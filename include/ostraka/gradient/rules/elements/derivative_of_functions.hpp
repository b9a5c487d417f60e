// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of functions of one element: os::gelu(A), os::pow(A, B), os::clamp(A, least, most), and
/// os::map(os::gelu, A). The cotangent times the derivative is one pass, in float for 16-bit elements. The tape keeps
/// the operand; for relu, exp, sqrt and rsqrt it keeps the result. The results of floor, ceil and round are constants.
/// Functions that complex analysis does not differentiate (abs, conj, real, imag) have rules of their own
/// (complex_cotangents.hpp).

#include <type_traits>

#include <ostraka/gradient/rules/elements/derivative_of_map.hpp>
#include <ostraka/operations/elements/clamp.hpp>
#include <ostraka/operations/elements/functions.hpp>

namespace ostraka {

namespace detail {

template <class F>
inline constexpr bool is_of_the_result = std::is_base_of_v<of_the_result, function_derivative<F>>;

/// The first derivative as a function of the operand or the result, whichever is kept; its derivative is the second.
template <class F>
struct kept_derivative {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& v) const {
    return T(function_derivative<F>::first(static_cast<wide_number<T>>(v)));
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const& v) const {
    return T(function_derivative<F>::second(static_cast<wide_number<T>>(v)));
  }
};

template <class F>
struct times_kept_derivative {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& g, T const& v) const {
    using wide = wide_number<T>;
    return T(static_cast<wide>(g) * function_derivative<F>::first(static_cast<wide>(v)));
  }
};

/// `V` is the operand or the result.
template <class F, class V>
struct function_pullback {
  kept<true, V> v;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if constexpr (any_differentiated_again<G, plain_type<V>>)
      return summed_to<Wanted>(ostraka::multiply(g, ostraka::map(kept_derivative<F>{}, v.get())));
    else
      return summed_to<Wanted>(ostraka::map(times_kept_derivative<F>{}, g, v.get()));
  }
};

/// F of an element and a number; the element is argument `At`.
template <class F, class T, int At>
struct of_element_and_number {
  F f;
  T number;
  KOKKOS_INLINE_FUNCTION T derivative(T const& x) const {
    if constexpr (At == 0)
      return f.template derivative<0>(x, number);
    else
      return f.template derivative<1>(number, x);
  }
  KOKKOS_INLINE_FUNCTION T second_derivative(T const& x) const {
    if constexpr (At == 0)
      return f.template second_derivative<0, 0>(x, number);
    else
      return f.template second_derivative<1, 1>(number, x);
  }
};

/// The pullback of F of one operand, perhaps with numbers.
template <class F, class A>
struct lone_pullback {
  map_pullback<F, A> of_it;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return of_it.template pull<0, Wanted>(g);
  }
};

template <class F, class A>
constexpr auto pullback_of_one(F const& f, A const& a) {
  return lone_pullback<F, A>{{f, {remember(a)}}};
}

/// The pullback of an F of two arguments, one of which may be a number.
template <class F, class A, class B>
constexpr auto pullback_of_two(F const& f, A const& a, B const& b) {
  if constexpr (is_number<B>) {
    using value = typename A::value_type;
    return pullback_of_one(of_element_and_number<F, value, 0>{f, as_element<value>("derivative", b)}, a);
  } else if constexpr (is_number<A>) {
    using value = typename B::value_type;
    return pullback_of_one(of_element_and_number<F, value, 1>{f, as_element<value>("derivative", a)}, b);
  } else {
    return map_pullback<F, A, B>{f, {remember(a), remember(b)}};
  }
}

}  // namespace detail

template <detail::ElementFunction F>
inline constexpr bool engine::detail::is_worth_width<detail::times_kept_derivative<F>> = F::has_wide_loops;

template <class F, reduction Kind>
inline constexpr preservation preserves<detail::times_kept_derivative<F>, Kind> = multilinear(Kind, 0b1);

template <>
struct derivative_of<operation::abs> {
  template <class Result, class A>
  static constexpr auto pullback(operation::abs const&, Result const&, A const& a) {
    if constexpr (detail::complex_number<typename A::value_type>)
      return detail::modulus_pullback<A>{detail::remember(a)};
    else
      return detail::function_pullback<operation::abs, A>{detail::remember(a)};
  }
};

template <detail::ElementFunction F>
struct derivative_of<F> {
  template <class Result, class A>
  static constexpr auto pullback(F const&, Result const& result, A const& a) {
    if constexpr (detail::is_of_the_result<F>)
      return detail::function_pullback<F, Result>{detail::remember(result)};
    else
      return detail::function_pullback<F, A>{detail::remember(a)};
  }
};

template <detail::ElementFunction F>
  requires requires { typename detail::function_derivative<F>::is_constant; }
struct derivative_of<F> : detail::locally_constant {};

/// As for os::gelu(A): the function chooses what is kept.
template <detail::ElementFunction F>
struct derivative_of<operation::map_by<F>> {
  template <class A>
  static constexpr auto composed(operation::map_by<F> const& map, A const& a) {
    return detail::operate(map.f, a);
  }
};

template <>
struct derivative_of<operation::pow> {
  template <class Result, class A, class B>
  static constexpr auto pullback(operation::pow const& f, Result const&, A const& a, B const& b) {
    return detail::pullback_of_two(f, a, b);
  }
};

template <>
struct derivative_of<operation::clamp> {
  template <class Result, class A, class Least, class Most>
  static constexpr auto pullback(operation::clamp const&, Result const&, A const& a, Least const& least,
                                 Most const& most) {
    return detail::pullback_of_one(detail::between_numbers<typename A::value_type>(least, most), a);
  }
};

}  // namespace ostraka
