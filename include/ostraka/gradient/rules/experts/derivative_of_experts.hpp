// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of the moves of tokens to experts and of products in groups of rows. Each move is reversed
/// along the same routes, so that numbers of rows are not sent again. The derivatives of these products are such
/// products again, so second derivatives need no rule of their own. Numbers of rows are constants. The operations are
/// only declared here; experts/ defines them, and programs without experts do not include that folder.
///
///     send_rows                    return_rows, summed over the choices of a token
///     return_rows                  send_rows
///     dispatch                     collect, summed over the choices of a token
///     collect                      dispatch
///     y = ragged_dot(x, w)         x̄ = ragged_dot(ȳ, w)          w̄ = ragged_contract(x, ȳ)
///     v = ragged_contract(x, y)    x̄ = ragged_dot(y, v̄)          ȳ = ragged_dot(x, v̄)

#include <ostraka/gradient/rules/derivative_of.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_shapes.hpp>
#include <ostraka/types/reasons/operation_names.hpp>

namespace ostraka {

template <>
struct derivative_of<operation::gather_cotangents> {
  template <class X>
  static constexpr auto composed(operation::gather_cotangents const&, X const& x) {
    if constexpr (is_abstract<X>)
      return x;
    else
      return detail::with_cotangent<cotangent_of<typename X::tensor_type>>(x);
  }
};

template <class R, class Routes>
struct derivative_of<operation::send_rows<R, Routes>> {
  template <class Result, class X>
  static auto pullback(operation::send_rows<R, Routes> const& send, Result const&, X const&) {
    using back = operation::return_rows<R, Routes>;
    return detail::transposed_pullback<back>{back{send.routes}};
  }
};

template <class R, class Routes>
struct derivative_of<operation::return_rows<R, Routes>> {
  template <class Result, class A>
  static auto pullback(operation::return_rows<R, Routes> const& back, Result const&, A const&) {
    using send = operation::send_rows<R, Routes>;
    return detail::transposed_pullback<send>{send{back.routes}};
  }
};

template <class Slots>
struct derivative_of<operation::dispatch<Slots>> {
  template <class Result, class X>
  static auto pullback(operation::dispatch<Slots> const& into, Result const&, X const&) {
    using back = operation::collect<Slots>;
    return detail::transposed_pullback<back>{back{{}, into.slots}};
  }
};

template <class Slots>
struct derivative_of<operation::collect<Slots>> {
  template <class Result, class Y>
  static auto pullback(operation::collect<Slots> const& out, Result const&, Y const&) {
    using back = operation::dispatch<Slots>;
    return detail::transposed_pullback<back>{back{{}, out.slots}};
  }
};

namespace detail {

template <class R, class E, bool SumsRows, class A, class B, class Sizes>
struct ragged_product_pullback {
  kept<is_variable<B>, A> a;  // each is kept for the derivative by the other
  kept<is_variable<A> || SumsRows, B> b;
  kept<true, Sizes> sizes;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    using dot = ostraka::operation::ragged_product<R, E, false>;
    if constexpr (SumsRows && K == 0)
      return summed_to<Wanted>(operate(dot{}, b.get(), g, sizes.get()));
    else if constexpr (SumsRows)
      return summed_to<Wanted>(operate(dot{}, a.get(), g, sizes.get()));
    else if constexpr (K == 0)
      return summed_to<Wanted>(operate(dot{}, g, b.get(), sizes.get()));
    else
      return summed_to<Wanted>(operate(ostraka::operation::ragged_product<R, E, true>{}, a.get(), g, sizes.get()));
  }
};

}  // namespace detail

template <class R, class E, bool SumsRows>
struct derivative_of<operation::ragged_product<R, E, SumsRows>> {
  template <class Result, class A, class B, class Sizes>
  static constexpr auto pullback(operation::ragged_product<R, E, SumsRows> const&, Result const&, A const& a,
                                 B const& b, Sizes const& sizes) {
    return detail::ragged_product_pullback<R, E, SumsRows, A, B, Sizes>{
        detail::remember_if<is_variable<B>>(a), detail::remember_if < is_variable<A> || SumsRows > (b),
        detail::remember(sizes)};
  }
};

}  // namespace ostraka
