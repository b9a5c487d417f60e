// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. How operations of the vocabulary are differentiated. A rule is a specialisation beside this file for the
/// operation's struct. It says, from the operation, its result and its operands, what the pullback keeps:
///
///     template <class Along>
///     struct derivative_of<operation::softmax<Along>> {
///       template <class Result, class... Given>  // variables, and tensors that are constant
///       static auto pullback(operation::softmax<Along> const&, Result const&, Given const&...);  // see record.hpp
///     };

#include <utility>

#include <ostraka/gradient/record.hpp>
#include <ostraka/operations/operate.hpp>

namespace ostraka {

/// The derivative of an operation; specialise it for the operation's struct.
template <class Operation>
struct derivative_of {
  template <class Result, class... Given>
  static detail::identity_pullback pullback(Operation const&, Result const&, Given const&...) {
    reason::raise<reason::no_derivative<Operation>>();
    return {};
  }
};

/// An operation on variables: done on their values, and recorded. `detail::operate` calls it.
template <class Operation, class... Given>
auto differentiate(Operation const& operation, Given const&... given) {
  auto const result = detail::operate(operation, detail::plain(given)...);
  return detail::record(result, derivative_of<Operation>::pullback(operation, result, given...), given...);
}

}  // namespace ostraka
