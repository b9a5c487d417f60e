// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Arithmetic element by element: add, subtract, negate, scale, multiply, divide, maximum, minimum, of tensors
/// and of a tensor and a number. They meet as in os::map, move nothing, and take partial tensors as far as they keep
/// their parts: A[I] {U_X} + B[I] {U_X} → [I] {U_X}.
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
/// A number is the same on all devices: it is met as a tensor is that is not partial. It is of the elements' kind
/// (numbers.hpp) and becomes one of them: os::add(A, 1.0) of floats is of floats, and 0.5 among integers is refused.
///
/// Integers keep less: quotients round, and what changes nothing in a maximum is the smallest number, from which
/// nothing can be taken.

#include <ostraka/detail/calls/numbers.hpp>
#include <ostraka/elements/map.hpp>

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

// As parts are combined: a NaN on either side stays.
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

// F of elements and one number, that of the tensor being operand `At`.
template <class F, class T, int At>
struct with_number {
  F f;
  T number;
  KOKKOS_INLINE_FUNCTION auto operator()(T const& a) const noexcept {
    if constexpr (At == 0)
      return f(a, number);
    else
      return f(number, a);
  }
};

// What an operation of two keeps of one operand where the other is the same on all devices; of a maximum that is equal
// parts, too.
constexpr preservation beside_number(preservation const& both, int at, reduction kind) {
  bool const equal_parts_combine_to_themselves = kind != reduction::sum && kind != reduction::prod;
  preservation p;
  p.together = equal_parts_combine_to_themselves && both.together.kept ? both.together : both.alone[at];
  return p;
}

// What F does to elements of type T, to be asked for by the trait.
template <class F, class T>
struct on {};

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

template <class F, class T, int At, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::with_number<F, T, At>, T>, Kind> =
    detail::beside_number(preserves<detail::on<F, T>, Kind>, At, Kind);

namespace detail {

template <class T, class Operation>
consteval auto check_numbers() {
  if constexpr (std::is_same_v<T, bool> && !is_one_of<Operation, operation::maximum, operation::minimum>)
    return found<reason::arithmetic_of_bools<Operation>>{};
  else
    return found<reason::ok>{};
}

// Are elements numbers? Bools have a maximum and a minimum alone.
template <class T, class Operation>
using numbers_verdict = typename decltype(check_numbers<T, Operation>())::type;

template <class Operation, class Unless, class F, class First, class... Rest>
auto arithmetic(char const* operation, F const& f, First const& first, Rest const&... rest) {
  using value = typename First::value_type;
  return checked_map<Operation, on<F, value>,
                     first_fault<elements_verdict<First, Rest...>, numbers_verdict<value, Operation>, Unless>, value>(
      operation, f, first, rest...);
}

template <class Operation, class Unless, int At, class F, class A, class Number>
auto arithmetic_with_number(char const* operation, F const& f, A const& a, Number const& number) {
  using value = typename A::value_type;
  with_number<F, value, At> with{f, {}};
  if constexpr (is_number_among<Number, value>) with.number = as_element<value>(operation, number);
  return arithmetic<Operation, first_fault<number_verdict<Number, value>, Unless>>(operation, with, a);
}

// Of two tensors, or of a tensor and a number on either side.
template <class Operation, class Unless = reason::ok, class F, class A, class B>
auto arithmetic_of_two(char const* operation, F const& f, A const& a, B const& b) {
  if constexpr (Tensor<A> && Tensor<B>)
    return arithmetic<Operation, Unless>(operation, f, a, b);
  else if constexpr (Tensor<A>)
    return arithmetic_with_number<Operation, Unless, 0>(operation, f, a, b);
  else
    return arithmetic_with_number<Operation, Unless, 1>(operation, f, b, a);
}

// For operations of numbers that have an order.
template <class Operation, class A, class B>
using has_order_verdict =
    reducible_verdict<typename std::conditional_t<Tensor<A>, A, B>::value_type, reduction::max, Operation>;

}  // namespace detail

/// Two tensors, or one and a number.
template <class A, class B>
concept ArithmeticOperands = (Tensor<A> && (Tensor<B> || detail::is_number<B>)) || (detail::is_number<A> && Tensor<B>);

/// A + B. Partial sums are partial over the same mesh axes, and so is the result; to partial maxima and minima values
/// may be added.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] auto add(A const& a, B const& b) {
  return detail::arithmetic_of_two<operation::add>("add", detail::plus{}, a, b);
}

/// A − B. Partial sums are partial over the same mesh axes; a value less a partial maximum is a partial minimum.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] auto subtract(A const& a, B const& b) {
  return detail::arithmetic_of_two<operation::subtract>("subtract", detail::minus{}, a, b);
}

/// −A. Partial sums remain so, partial maxima become minima.
template <Tensor A>
[[nodiscard]] auto negate(A const& a) {
  return detail::arithmetic<operation::negate, reason::ok>("negate", detail::negation{}, a);
}

/// The tensor times a number that all devices share, `os::scale(A, 2)` or `os::scale(2, A)`; partial sums remain so.
template <Tensor A, class Number>
  requires detail::is_number<Number>
[[nodiscard]] auto scale(A const& a, Number const& factor) {
  return detail::arithmetic_of_two<operation::scale>("scale", detail::product{}, a, factor);
}

template <class Number, Tensor A>
  requires detail::is_number<Number>
[[nodiscard]] auto scale(Number const& factor, A const& a) {
  return scale(a, factor);
}

/// A · B element by element (os::einsum sums, too). Either may be a partial sum, not both; of partial products both
/// are.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] auto multiply(A const& a, B const& b) {
  return detail::arithmetic_of_two<operation::multiply>("multiply", detail::product{}, a, b);
}

/// A / B. The numerator may be a partial sum; of partial products both are.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] auto divide(A const& a, B const& b) {
  return detail::arithmetic_of_two<operation::divide>("divide", detail::quotient{}, a, b);
}

/// The larger of A and B; NaN wins. Either may be a partial maximum, or one a partial minimum.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] auto maximum(A const& a, B const& b) {
  return detail::arithmetic_of_two<operation::maximum, detail::has_order_verdict<operation::maximum, A, B>>(
      "maximum", detail::larger{}, a, b);
}

/// The smaller of A and B; NaN wins. Either may be a partial minimum, or one a partial maximum.
template <class A, class B>
  requires ArithmeticOperands<A, B>
[[nodiscard]] auto minimum(A const& a, B const& b) {
  return detail::arithmetic_of_two<operation::minimum, detail::has_order_verdict<operation::minimum, A, B>>(
      "minimum", detail::smaller{}, a, b);
}

}  // namespace ostraka
