// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of os::map. The function states its own: with one argument `derivative(x)`, with several
/// `derivative<K>(x, y, …)` with respect to argument K. os::differentiable(f, df) joins two functions, f without a
/// derivative and df.
///
/// A second derivative needs `second_derivative(x)`, or `second_derivative<K, L>(x, y, …)`: derivative K with respect
/// to argument L. The functions of operations/elements/functions.hpp have all of them.
///
/// If elements are complex, the cotangent is multiplied by the complex derivative of a holomorphic function, and by
/// ∂f/∂x − i ∂f/∂y of a function with real results. A real operand gets the real part of the product.

#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/cotangents/complex_cotangents.hpp>

namespace ostraka {

/// A function and its derivative as one function object for os::map.
template <class F, class Derivative>
struct differentiable : F {
  Derivative df;
  constexpr differentiable(F f, Derivative d) : F(f), df(d) {}
  using F::operator();

  template <class... Ts>
  KOKKOS_INLINE_FUNCTION auto derivative(Ts const&... x) const {
    return df(x...);
  }
  /// The derivative's own derivative.
  template <class... Ts>
    requires requires(Derivative const& d, Ts const&... x) { d.derivative(x...); }
  KOKKOS_INLINE_FUNCTION auto second_derivative(Ts const&... x) const {
    return df.derivative(x...);
  }
};
template <class F, class Derivative>
differentiable(F, Derivative) -> differentiable<F, Derivative>;

namespace detail {

/// True if F states its derivative with respect to argument K.
template <int K, class F, class... Ts>
consteval bool defines_derivative() {
  if constexpr (sizeof...(Ts) == 1)
    return requires(F const& f, Ts const&... x) { f.derivative(x...); };
  else
    return requires(F const& f, Ts const&... x) { f.template derivative<K>(x...); };
}

/// Derivative K of F as a function. It is differentiable if F has second derivatives.
template <int K, class F>
struct derivative_function {
  F f;
  template <class... Ts>
  KOKKOS_INLINE_FUNCTION auto operator()(Ts const&... x) const {
    if constexpr (sizeof...(Ts) == 1)
      return f.derivative(x...);
    else
      return f.template derivative<K>(x...);
  }
  template <class T>
    requires requires(F const& of, T const& at) { of.second_derivative(at); }
  KOKKOS_INLINE_FUNCTION auto derivative(T const& x) const {
    return f.second_derivative(x);
  }
  template <int L, class... Ts>
    requires requires(F const& of, Ts const&... at) { of.template second_derivative<K, L>(at...); }
  KOKKOS_INLINE_FUNCTION auto derivative(Ts const&... x) const {
    return f.template second_derivative<K, L>(x...);
  }
};

/// The cotangent times the derivative, for an operand with elements of type T: the real part if T is real.
template <int K, class F, class T>
struct times_derivative {
  derivative_function<K, F> df;
  template <class G, class... Ts>
  KOKKOS_INLINE_FUNCTION T operator()(G const& g, Ts const&... x) const {
    if constexpr (is_real<T> && complex_number<decltype(g * df(x...))>)
      return T((g * df(x...)).real());
    else
      return T(g * df(x...));
  }
};

template <class F, class... Given>
struct map_pullback {
  F f;
  std::tuple<kept<true, Given>...> operands;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if constexpr (defines_derivative<K, F, typename plain_type<Given>::value_type...>()) {
      using value = typename Wanted::value_type;
      return summed_to<Wanted>(std::apply([&](auto const&... x) { return times<K, value>(g, x.get()...); }, operands));
    } else {
      reason::raise<reason::function_has_no_derivative<F>>();
      return {};
    }
  }

 private:
  // One pass, unless the product itself has to be differentiated.
  template <int K, class T, class G, class... Xs>
  constexpr auto times(G const& g, Xs const&... x) const {
    derivative_function<K, F> const df{f};
    if constexpr (any_differentiated_again<G, Xs...>)
      return projected<T>(multiply_alike(g, ostraka::map(df, x...)));
    else
      return ostraka::map(times_derivative<K, F, T>{df}, g, x...);
  }
};

}  // namespace detail

/// Linear in the cotangent, so partial sums stay partial.
template <int K, class F, class T, reduction Kind>
inline constexpr preservation preserves<detail::times_derivative<K, F, T>, Kind> = multilinear(Kind, 0b1);

template <class F>
struct derivative_of<operation::map_by<F>> {
  template <class Result, class... Given>
  static constexpr auto pullback(operation::map_by<F> const& operation, Result const&, Given const&... given) {
    return detail::map_pullback<std::decay_t<F>, Given...>{operation.f, {detail::remember(given)...}};
  }
};

}  // namespace ostraka
