// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Operators of tensors, and of a tensor and a number: each is the named function of arithmetic.hpp or
/// comparison.hpp, element by element, with operands matched by the names of their axes. A * B sums nothing; os::einsum
/// does. A += B does not compile, and its error says what to write instead.
///
///     A + B  A − B  A * B  A / B  −A      os::add, subtract, multiply, divide, negate
///     A == B  !=  <  <=  >  >=            os::equal, not_equal, less, less_equal, greater, greater_equal: bools
///     A && B  A || B  !A                  os::logical_and, logical_or, logical_not: for bools, both sides are computed

#include <type_traits>

#include <ostraka/elements/comparison.hpp>
#include <ostraka/tensors/after_error.hpp>

namespace ostraka {

template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto operator+(A const& a, B const& b) {
  return add(a, b);
}

template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto operator-(A const& a, B const& b) {
  return subtract(a, b);
}

template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto operator*(A const& a, B const& b) {
  return multiply(a, b);
}

template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto operator/(A const& a, B const& b) {
  return divide(a, b);
}

template <TensorOrVariable A>
[[nodiscard]] constexpr auto operator-(A const& a) {
  return negate(a);
}

template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto operator==(A const& a, B const& b) {
  return equal(a, b);
}

/// `A != B`: os::not_equal(A, B).
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto operator!=(A const& a, B const& b) {
  return not_equal(a, b);
}

/// `A < B`: os::less(A, B).
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto operator<(A const& a, B const& b) {
  return less(a, b);
}

/// `A <= B`: os::less_equal(A, B).
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto operator<=(A const& a, B const& b) {
  return less_equal(a, b);
}

/// `A > B`: os::greater(A, B).
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto operator>(A const& a, B const& b) {
  return greater(a, b);
}

/// `A >= B`: os::greater_equal(A, B).
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto operator>=(A const& a, B const& b) {
  return greater_equal(a, b);
}

/// `A && B`: os::logical_and(A, B).
template <TensorOrVariable A, TensorOrVariable B>
[[nodiscard]] constexpr auto operator&&(A const& a, B const& b) {
  return logical_and(a, b);
}

/// `A || B`: os::logical_or(A, B).
template <TensorOrVariable A, TensorOrVariable B>
[[nodiscard]] constexpr auto operator||(A const& a, B const& b) {
  return logical_or(a, b);
}

/// `!A`: os::logical_not(A).
template <TensorOrVariable A>
[[nodiscard]] constexpr auto operator!(A const& a) {
  return logical_not(a);
}

// ---- operators that do not compile ----------------------------------------------------------------------------------

namespace detail {

template <class A, class B>
void no_operator_in_place() {
  if constexpr (!is_after_error<A> && !is_after_error<B>) reason::raise<reason::operator_in_place<A, B>>();
}

}  // namespace detail

/// Does not compile: tensors are not changed in place, and the error says what to write instead.
template <Tensor A, class B>
A const& operator+=(A const& a, B const&) {
  detail::no_operator_in_place<A, B>();
  return a;
}

/// Does not compile: tensors are not changed in place, and the error says what to write instead.
template <Tensor A, class B>
A const& operator-=(A const& a, B const&) {
  detail::no_operator_in_place<A, B>();
  return a;
}

/// Does not compile: tensors are not changed in place, and the error says what to write instead.
template <Tensor A, class B>
A const& operator*=(A const& a, B const&) {
  detail::no_operator_in_place<A, B>();
  return a;
}

/// Does not compile: tensors are not changed in place, and the error says what to write instead.
template <Tensor A, class B>
A const& operator/=(A const& a, B const&) {
  detail::no_operator_in_place<A, B>();
  return a;
}

}  // namespace ostraka
