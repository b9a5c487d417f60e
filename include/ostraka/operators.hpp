// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Operators, which tensors do not have (docs/design/elementwise.md): what to write instead.

#include <type_traits>

#include <ostraka/detail/after_error.hpp>

namespace ostraka {

namespace detail {

// One mistake is one error: what an operator was refused for is not refused again by the next.
template <class... Operands>
inline constexpr bool has_said_so = (is_after_error<Operands> || ...);

template <class First, class... Others>
struct first_tensor {
  using type = typename first_tensor<Others...>::type;
};

template <Tensor First, class... Others>
struct first_tensor<First, Others...> {
  using type = First;
};

template <class... Operands>
auto no_operator() {
  if constexpr (!has_said_so<Operands...>) reason::raise<reason::operator_on_tensor<Operands...>>();
  using met = typename first_tensor<Operands...>::type;
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

template <Tensor A>
auto operator-(A const&) {
  return detail::no_operator<A>();
}

template <Tensor A, class B>
auto operator+=(A const&, B const&) {
  return detail::no_operator<A, B>();
}

template <Tensor A, class B>
auto operator-=(A const&, B const&) {
  return detail::no_operator<A, B>();
}

template <Tensor A, class B>
auto operator*=(A const&, B const&) {
  return detail::no_operator<A, B>();
}

template <Tensor A, class B>
auto operator/=(A const&, B const&) {
  return detail::no_operator<A, B>();
}

}  // namespace ostraka
