// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of what takes tokens to experts: each goes the other way, by the routes that are there, so
/// that nobody tells anybody again how many rows there are.
///
///     send_rows      return_rows, summed over the choices of a token
///     return_rows    send_rows
///     dispatch       collect, summed over the choices of a token
///     collect        dispatch

#include <ostraka/experts/capacity.hpp>
#include <ostraka/experts/rows.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_shapes.hpp>

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

}  // namespace ostraka
