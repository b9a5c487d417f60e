// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Arithmetic element by element: add, subtract, negate, scale, multiply, divide, maximum, minimum. They meet as in os::map,
/// move nothing, and take partial tensors as far as they keep their parts: A[I] {U_X} + B[I] {U_X} → [I] {U_X}.
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
/// Integers keep less: quotients round, and what changes nothing in a maximum is the smallest number, from which nothing can be taken.

#include <ostraka/map.hpp>

namespace ostraka {

namespace detail {

struct plus {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return a + b;
  }
};

struct minus {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return a - b;
  }
};

struct negation {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a) const {
    return -a;
  }
};

template <class T>
struct times {
  T factor;
  KOKKOS_INLINE_FUNCTION T operator()(T const& a) const { return factor * a; }
};

struct product {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return a * b;
  }
};

struct quotient {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return a / b;
  }
};

// As parts are combined: a NaN on either side stays.
struct larger {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return engine::combine(reduction::max, a, b);
  }
};

struct smaller {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return engine::combine(reduction::min, a, b);
  }
};

// What F does to elements of type T, to be asked for by the trait.
template <class F, class T>
struct on {};

template <class T>
inline constexpr bool rounds_down = std::is_integral_v<T>;

}  // namespace detail

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::plus, T>, Kind> = detail::rounds_down<T> ? linear(Kind) : linear(Kind) | non_decreasing(Kind);

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::minus, T>, Kind> =
    detail::rounds_down<T> ? linear(Kind) : linear(Kind) | non_decreasing(Kind, 0b01) | non_increasing(Kind, 0b10);

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::negation, T>, Kind> = detail::rounds_down<T> ? linear(Kind) : linear(Kind) | non_increasing(Kind);

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::times<T>, T>, Kind> = linear(Kind);

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::on<detail::product, T>, Kind> = multilinear(Kind) | multiplicative(Kind);

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

template <class Operation, class F, class First, class... Rest>
auto arithmetic(char const* operation, F const& f, First const& first, Rest const&... rest) {
  using value = typename First::value_type;
  using verdict = typename same_elements<First, Rest...>::type;
  return checked_map<Operation, on<F, value>, verdict, value>(operation, f, first, rest...);
}

// For operations of numbers that have an order.
template <class Operation, class F, class First, class... Rest>
auto comparison(char const* operation, F const& f, First const& first, Rest const&... rest) {
  using value = typename First::value_type;
  using verdict = typename first_fault<typename same_elements<First, Rest...>::type, reducible_verdict<value, reduction::max, Operation>>::type;
  return checked_map<Operation, on<F, value>, verdict, value>(operation, f, first, rest...);
}

}  // namespace detail

/// A + B. Partial sums are partial over the same mesh axes, and so is the result; to partial maxima and minima values may be added.
template <Tensor A, Tensor B>
[[nodiscard]] auto add(A const& a, B const& b) {
  return detail::arithmetic<operation::add>("add", detail::plus{}, a, b);
}

/// A − B. Partial sums are partial over the same mesh axes; a value less a partial maximum is a partial minimum.
template <Tensor A, Tensor B>
[[nodiscard]] auto subtract(A const& a, B const& b) {
  return detail::arithmetic<operation::subtract>("subtract", detail::minus{}, a, b);
}

/// −A. Partial sums remain so, partial maxima become minima.
template <Tensor A>
[[nodiscard]] auto negate(A const& a) {
  return detail::arithmetic<operation::negate>("negate", detail::negation{}, a);
}

/// The tensor times a number that all devices share; partial sums remain so.
template <Tensor A>
[[nodiscard]] auto scale(typename A::value_type const& factor, A const& a) {
  return detail::arithmetic<operation::scale>("scale", detail::times<typename A::value_type>{factor}, a);
}

/// A · B element by element (os::einsum sums, too). Either may be a partial sum, not both; of partial products both are.
template <Tensor A, Tensor B>
[[nodiscard]] auto multiply(A const& a, B const& b) {
  return detail::arithmetic<operation::multiply>("multiply", detail::product{}, a, b);
}

/// A / B. The numerator may be a partial sum; of partial products both are.
template <Tensor A, Tensor B>
[[nodiscard]] auto divide(A const& a, B const& b) {
  return detail::arithmetic<operation::divide>("divide", detail::quotient{}, a, b);
}

/// The larger of A and B; NaN wins. Either may be a partial maximum, or one a partial minimum.
template <Tensor A, Tensor B>
[[nodiscard]] auto maximum(A const& a, B const& b) {
  return detail::comparison<operation::maximum>("maximum", detail::larger{}, a, b);
}

/// The smaller of A and B; NaN wins. Either may be a partial minimum, or one a partial maximum.
template <Tensor A, Tensor B>
[[nodiscard]] auto minimum(A const& a, B const& b) {
  return detail::comparison<operation::minimum>("minimum", detail::smaller{}, a, b);
}

}  // namespace ostraka
