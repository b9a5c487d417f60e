// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Arithmetic element by element: add, subtract, negate, scale, multiply, divide, maximum, minimum, of tensors
/// and of a tensor and a number. Operands are matched as in os::map, and nothing moves. Partial tensors are accepted if
/// the operation keeps their parts: A[I] {U_X} + B[I] {U_X} → [I] {U_X}.
///
///                  sum               max, min                          prod
///     add          both              either alone                      –
///     subtract     both              left alone; right alone: exchanged –
///     negate       kept              exchanged                         –
///     scale        kept              – (the sign is not known)         –
///     multiply     either alone      –                                 both
///     divide       numerator alone   –                                 both
///     maximum      –                 max, also with values; min alone  –
///     minimum      –                 min, also with values; max alone  –
///
/// A number is the same on all devices, so the rules are those for a tensor that is not partial. It is of the elements'
/// kind (numbers.hpp) and is converted to their type: os::add(A, 1.0) of floats returns floats, and 0.5 among integers
/// is refused.
///
/// Integers keep fewer parts: quotients round, and the neutral element of a maximum is the smallest number, from which
/// nothing can be subtracted.

#include <ostraka/elements/element_operation.hpp>

namespace ostraka {

namespace detail {

struct plus {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const noexcept {
    return T(a + b);
  }
};

struct minus {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const noexcept {
    return T(a - b);
  }
};

struct negation {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a) const noexcept {
    return T(-a);
  }
};

struct product {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const noexcept {
    return T(a * b);
  }
};

struct quotient {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const noexcept {
    return T(a / b);
  }
};

// The maximum that combines parts: if either side is NaN, so is the result.
struct larger {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const noexcept {
    return engine::combine(reduction::max, a, b);
  }
};

struct smaller {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const noexcept {
    return engine::combine(reduction::min, a, b);
  }
};

template <class T>
inline constexpr bool rounds_down = std::is_integral_v<T>;

}  // namespace detail

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::plus, T>, Kind> = detail::rounds_down<T>
                                                                                 ? linear(Kind)
                                                                                 : linear(Kind) | non_decreasing(Kind);

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::minus, T>, Kind> =
    detail::rounds_down<T> ? linear(Kind) : linear(Kind) | non_decreasing(Kind, 0b01) | non_increasing(Kind, 0b10);

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::negation, T>, Kind> = detail::rounds_down<T>
                                                                                     ? linear(Kind)
                                                                                     : linear(Kind) |
                                                                                           non_increasing(Kind);

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::product, T>, Kind> = multilinear(Kind) |
                                                                                multiplicative(Kind);

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::quotient, T>, Kind> =
    detail::rounds_down<T> ? preservation() : multilinear(Kind, 0b01) | multiplicative(Kind);

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::larger, T>, Kind> =
    Kind == reduction::max ? preservation{Kind, {}} | non_decreasing(Kind) : non_decreasing(Kind);

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::smaller, T>, Kind> =
    Kind == reduction::min ? preservation{Kind, {}} | non_decreasing(Kind) : non_decreasing(Kind);

namespace detail {

template <class T, class Operation>
consteval auto check_numbers() {
  if constexpr (std::is_same_v<T, bool> && !is_one_of<Operation, operation::maximum, operation::minimum>)
    return found<reason::arithmetic_of_bools<Operation>>{};
  else
    return found<reason::ok>{};
}

// `reason::ok` if the elements are numbers. Bools have only a maximum and a minimum.
template <class T, class Operation>
using numbers_verdict = typename decltype(check_numbers<T, Operation>())::type;

// A family that takes numbers; the result has the elements of the operands.
struct of_numbers {
  template <class T>
  using result = T;
  template <class F, class T>
  using keeper = on<F, T>;
  template <class Operation, class... Operands>
  using verdict =
      first_fault<elements_verdict<Operands...>,
                  numbers_verdict<typename nth<0, Operands...>::type::value_type, Operation>>;
};

// A family that takes numbers with an order.
struct of_ordered_numbers : of_numbers {
  template <class Operation, class... Operands>
  using verdict =
      first_fault<of_numbers::verdict<Operation, Operands...>,
                  reducible_verdict<typename nth<0, Operands...>::type::value_type, reduction::max, Operation>>;
};

}  // namespace detail

namespace operation {

struct add : detail::element_operation<add, detail::plus, detail::of_numbers> {
  static constexpr char const* name = "add";
};
struct subtract : detail::element_operation<subtract, detail::minus, detail::of_numbers> {
  static constexpr char const* name = "subtract";
};
struct negate : detail::element_operation<negate, detail::negation, detail::of_numbers> {
  static constexpr char const* name = "negate";
};
struct scale : detail::element_operation<scale, detail::product, detail::of_numbers> {
  static constexpr char const* name = "scale";
};
struct multiply : detail::element_operation<multiply, detail::product, detail::of_numbers> {
  static constexpr char const* name = "multiply";
};
struct divide : detail::element_operation<divide, detail::quotient, detail::of_numbers> {
  static constexpr char const* name = "divide";
};
struct maximum : detail::element_operation<maximum, detail::larger, detail::of_ordered_numbers> {
  static constexpr char const* name = "maximum";
};
struct minimum : detail::element_operation<minimum, detail::smaller, detail::of_ordered_numbers> {
  static constexpr char const* name = "minimum";
};

}  // namespace operation

/// A + B. If both are partial sums, they are partial over the same mesh axes, and so is the result. Values may be added
/// to partial maxima and minima.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto add(A const& a, B const& b) {
  return detail::operate(operation::add{}, a, b);
}

/// A − B. If both are partial sums, they are partial over the same mesh axes. A value minus a partial maximum is a
/// partial minimum.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto subtract(A const& a, B const& b) {
  return detail::operate(operation::subtract{}, a, b);
}

/// −A. Partial sums stay partial sums; partial maxima become minima.
template <TensorOrVariable A>
[[nodiscard]] constexpr auto negate(A const& a) {
  return detail::operate(operation::negate{}, a);
}

/// The tensor times a number that all devices share, `os::scale(A, 2)` or `os::scale(2, A)`. Partial sums stay partial
/// sums.
template <TensorOrVariable A, class Number>
  requires detail::is_number<Number>
[[nodiscard]] constexpr auto scale(A const& a, Number const& factor) {
  return detail::operate(operation::scale{}, a, factor);
}

template <class Number, TensorOrVariable A>
  requires detail::is_number<Number>
[[nodiscard]] constexpr auto scale(Number const& factor, A const& a) {
  return detail::operate(operation::scale{}, a, factor);
}

/// A · B element by element (os::einsum also sums). Either may be a partial sum, but not both. If one is a partial
/// product, both are.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto multiply(A const& a, B const& b) {
  return detail::operate(operation::multiply{}, a, b);
}

/// A / B. The numerator may be a partial sum. If one is a partial product, both are.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto divide(A const& a, B const& b) {
  return detail::operate(operation::divide{}, a, b);
}

/// The larger of A and B; NaN wins. Either may be a partial maximum, or one a partial minimum.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto maximum(A const& a, B const& b) {
  return detail::operate(operation::maximum{}, a, b);
}

/// The smaller of A and B; NaN wins. Either may be a partial minimum, or one a partial maximum.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] constexpr auto minimum(A const& a, B const& b) {
  return detail::operate(operation::minimum{}, a, b);
}

}  // namespace ostraka
