// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of products in groups of rows, which are such products: closed, so that second derivatives
/// need no rule of their own. The numbers of rows are constants.
///
///     y = ragged_dot(x, w)         x̄ = ragged_dot(ȳ, w)          w̄ = ragged_contract(x, ȳ)
///     v = ragged_contract(x, y)    x̄ = ragged_dot(y, v̄)          ȳ = ragged_dot(x, v̄)

#include <ostraka/experts/ragged_dot.hpp>
#include <ostraka/gradient/rules/derivative_of.hpp>

namespace ostraka {

namespace detail {

template <class R, class E, bool SumsRows, class A, class B, class Sizes>
struct ragged_product_pullback {
  kept<is_variable<B>, A> a;  // each is needed for the other's
  kept<is_variable<A> || SumsRows, B> b;
  kept<true, Sizes> sizes;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using dot = ostraka::operation::ragged_dot<R, E>;
    if constexpr (SumsRows && K == 0)
      return summed_to<Wanted>(operate(dot{}, b.get(), g, sizes.get()));
    else if constexpr (SumsRows)
      return summed_to<Wanted>(operate(dot{}, a.get(), g, sizes.get()));
    else if constexpr (K == 0)
      return summed_to<Wanted>(operate(dot{}, g, b.get(), sizes.get()));
    else
      return summed_to<Wanted>(operate(ostraka::operation::ragged_contract<R, E>{}, a.get(), g, sizes.get()));
  }
};

}  // namespace detail

template <class R, class E, bool SumsRows>
struct derivative_of<operation::ragged_product<R, E, SumsRows>> {
  template <class Result, class A, class B, class Sizes>
  static constexpr auto pullback(operation::ragged_product<R, E, SumsRows> const&, Result const&, A const& a,
                                 B const& b, Sizes const& sizes) {
    return detail::ragged_product_pullback<R, E, SumsRows, A, B, Sizes>{
        detail::remember_if<is_variable<B>>(a), detail::remember_if<is_variable<A> || SumsRows>(b),
        detail::remember(sizes)};
  }
};

}  // namespace ostraka
