// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Operators, which tensors do not have (docs/design/elementwise.md): what to write instead.

#include <type_traits>

#include <ostraka/detail/after_error.hpp>

namespace ostraka {

namespace detail {

template <class Left, class Right>
auto no_operator() {
  reason::raise<reason::operator_on_tensor<Left, Right>>();
  using met = std::conditional_t<is_tensor<Left>, Left, Right>;
  return after_error_of<typename met::value_type, typename met::sharding_type, typename met::space>();
}

}  // namespace detail

template <class A, class B>
  requires(Tensor<A> || Tensor<B>)
auto operator+(A const&, B const&) {
  return detail::no_operator<A, B>();
}

template <class A, class B>
  requires(Tensor<A> || Tensor<B>)
auto operator-(A const&, B const&) {
  return detail::no_operator<A, B>();
}

template <class A, class B>
  requires(Tensor<A> || Tensor<B>)
auto operator*(A const&, B const&) {
  return detail::no_operator<A, B>();
}

template <class A, class B>
  requires(Tensor<A> || Tensor<B>)
auto operator/(A const&, B const&) {
  return detail::no_operator<A, B>();
}

}  // namespace ostraka
