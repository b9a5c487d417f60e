// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Powers and roots of elements: abs square sqrt rsqrt pow.

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/numbers/square_root.hpp>
#include <ostraka/operations/elements/element_function.hpp>

namespace ostraka {

namespace detail {

/// The family of functions of two numbers.
struct of_powers : of_numbers {
  template <class Operation, class... Operands>
  using verdict = first_fault<of_numbers::verdict<Operation, Operands...>,
                              function_verdict<Operation, typename nth<0, Operands...>::type::value_type>>;
};

}  // namespace detail

namespace operation {

using detail::defined_for;
using detail::element_function;

struct abs : element_function<abs> {
  static constexpr char const* name = "abs";
  static constexpr auto defined = defined_for::all;
  static constexpr bool is_holomorphic = false;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static auto of(T const& x) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(x < 0 ? -x : x);
    } else {
      using std::abs;
      return abs(x);
    }
  }
};

struct square : element_function<square> {
  static constexpr char const* name = "square";
  static constexpr auto defined = defined_for::all;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T const& x) {
    return T(x * x);
  }
};

struct sqrt : element_function<sqrt> {
  static constexpr char const* name = "sqrt";
  static constexpr auto defined = defined_for::fractions_and_complex;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T const& x) {
    if constexpr (detail::complex_number<T>) {
      using std::sqrt;
      return sqrt(x);
    } else {
      return engine::square_root(x);
    }
  }
  template <std::floating_point T>
  static void of_neighbours(std::int64_t count, T* to, T const* from) {
    engine::square_roots(count, to, from);
  }
  template <class T>
    requires is_narrow<T>
  static void of_neighbours(std::int64_t count, T* to, T const* from) {
    engine::in_floats(count, to, from,
                      [](std::int64_t n, float* x) { of_neighbours(n, x, static_cast<float const*>(x)); });
  }
};

/// 1 / √x
struct rsqrt : element_function<rsqrt> {
  static constexpr char const* name = "rsqrt";
  static constexpr auto defined = defined_for::fractions;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    return T(1) / engine::square_root(x);
  }
  template <std::floating_point T>
  static void of_neighbours(std::int64_t count, T* to, T const* from) {
    engine::square_roots(count, to, from);
    engine::for_each_independent(count, [=](std::int64_t i) { to[i] = T(1) / to[i]; });
  }
  template <class T>
    requires is_narrow<T>
  static void of_neighbours(std::int64_t count, T* to, T const* from) {
    engine::in_floats(count, to, from,
                      [](std::int64_t n, float* x) { of_neighbours(n, x, static_cast<float const*>(x)); });
  }
};

/// x to the power of y.
struct pow : detail::element_operation<pow, pow, detail::of_powers> {
  static constexpr char const* name = "pow";
  static constexpr auto defined = defined_for::fractions;
  template <class T>
    requires(detail::is_number<T> && detail::is_defined<T, defined>)
  KOKKOS_INLINE_FUNCTION T operator()(T const& x, T const& y) const {
    using wide = accumulator_of_t<T>;
    return T(std::pow(static_cast<wide>(x), static_cast<wide>(y)));
  }

  /// The derivative by argument K, and its derivative by argument L.
  template <int K, class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const& x, T const& y) const {
    return detail::derivative_of_numbers<pow, K>(x, y);
  }
  template <int K, int L, class T>
  KOKKOS_INLINE_FUNCTION T second_derivative(T const& x, T const& y) const {
    return detail::second_derivative_of_numbers<pow, K, L>(x, y);
  }

  /// Takes two tensors, or one and a number, as os::multiply does.
  template <class A, class B>
    requires ArithmeticOperands<A, B>
  [[nodiscard]] constexpr auto operator()(A const& a, B const& b) const { return detail::operate(*this, a, b); }
};

}  // namespace operation

namespace detail {

template <>
struct function_derivative<operation::abs> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;  // 0 and NaN are their own signs
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T) {
    return T(0);
  }
};

template <>
struct function_derivative<operation::square> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    return x + x;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T) {
    return T(2);
  }
};

template <>
struct function_derivative<operation::sqrt> : of_the_result {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T y) {
    return T(0.5) / y;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T y) {
    return T(-0.5) / y / y;
  }
};

template <>
struct function_derivative<operation::rsqrt> : of_the_result {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T y) {
    return T(-0.5) * y * y * y;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T y) {
    return T(-1.5) * y * y;
  }
};

/// y x^(y−1) and x^y log x, and their derivatives. If y = 0 the first is 0, and the logarithm of 0 counts as 0, as in
/// JAX.
template <>
struct function_derivative<operation::pow> {
  template <int K, class T>
  KOKKOS_INLINE_FUNCTION static T first(T x, T y) {
    if constexpr (K == 0)
      return y == T(0) ? T(0) : y * std::pow(x, y - T(1));
    else
      return logarithm(x) * std::pow(x, y);
  }
  template <int K, int L, class T>
  KOKKOS_INLINE_FUNCTION static T second(T x, T y) {
    if constexpr (K == 0 && L == 0)
      return y == T(0) || y == T(1) ? T(0) : y * (y - T(1)) * std::pow(x, y - T(2));
    else if constexpr (K == 1 && L == 1)
      return logarithm(x) * logarithm(x) * std::pow(x, y);
    else
      return std::pow(x, y - T(1)) * (T(1) + y * logarithm(x));
  }

 private:
  template <class T>
  KOKKOS_INLINE_FUNCTION static T logarithm(T x) {
    return x == T(0) ? T(0) : std::log(x);
  }
};

}  // namespace detail

template <reduction Kind>
inline constexpr preservation preserves<operation::abs, Kind> = multiplicative(Kind);
template <reduction Kind>
inline constexpr preservation preserves<operation::square, Kind> = multiplicative(Kind);

/// |x|, element by element; the modulus of complex numbers.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::abs abs{};
/// x², element by element.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::square square{};
/// √x, element by element.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::sqrt sqrt{};
/// 1/√x, element by element.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::rsqrt rsqrt{};
/// x to the power y, element by element: `os::pow(A, B)`, `os::pow(A, 3)`.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::pow pow{};

}  // namespace ostraka
