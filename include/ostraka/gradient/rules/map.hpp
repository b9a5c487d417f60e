// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of os::map. The function says its own: of one argument `derivative(x)`, of several
/// `derivative<K>(x, y, …)` with respect to argument K. os::differentiable(f, df) joins two functions that do not.

#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/record.hpp>
#include <ostraka/map.hpp>

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
};
template <class F, class Derivative>
differentiable(F, Derivative) -> differentiable<F, Derivative>;

namespace detail {

/// The cotangent times the derivative with respect to argument K.
template <int K, class F>
struct times_derivative {
  F f;
  template <class G, class... Ts>
  KOKKOS_INLINE_FUNCTION G operator()(G const& g, Ts const&... x) const {
    if constexpr (sizeof...(Ts) == 1)
      return G(g * f.derivative(x...));
    else
      return G(g * f.template derivative<K>(x...));
  }
};

template <class F, class... Given>
struct map_pullback {
  F f;
  std::tuple<plain_type<Given>...> operands;

  template <int K, class Wanted, class G>
  Wanted pull(G const& g) const {
    return summed_to<Wanted>(
        std::apply([&](auto const&... x) { return ostraka::map(times_derivative<K, F>{f}, g, x...); }, operands));
  }
};

}  // namespace detail

/// os::map of variables and constants by a function that says its derivative.
template <class F, class... Given>
  requires(!is_variable<F> && any_variable<Given...>)
[[nodiscard]] auto map(F const& f, Given const&... given) {
  return detail::record(map(f, detail::plain(given)...), detail::map_pullback<F, Given...>{f, {detail::plain(given)...}},
                        given...);
}

}  // namespace ostraka
