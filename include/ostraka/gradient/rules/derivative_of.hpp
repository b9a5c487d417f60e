// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Derivatives of the operations of the vocabulary. A rule is a specialisation for the operation's struct, in
/// a file beside this one. It makes the pullback, with the tensors that the pullback keeps, from the operation, its
/// result and its operands:
///
///     template <class Along>
///     struct derivative_of<operation::softmax<Along>> {
///       template <class Result, class... Given>  // variables, and tensors that are constant
///       static auto pullback(operation::softmax<Along> const&, Result const&, Given const&...);  // see record.hpp
///     };
///
/// Bool and integer results are constants without a rule. The rule of a step function (floor) derives from
/// detail::locally_constant.

#include <ostraka/gradient/cotangents/as.hpp>

namespace ostraka {

/// The derivative of an operation. Specialise it for the operation's struct.
template <class Operation>
struct derivative_of {
  template <class Result, class... Given>
  static constexpr detail::identity_pullback pullback(Operation const&, Result const&, Given const&...) {
    reason::raise<reason::no_derivative<Operation>>();
    return {};
  }
};

template <class Out>
struct derivative_of<operation::broadcast<Out>> {
  template <class Result, class A>
  static constexpr detail::identity_pullback pullback(operation::broadcast<Out> const&, Result const&, A const&) {
    return {};
  }
};

}  // namespace ostraka
