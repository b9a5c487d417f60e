// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Powers and roots of elements: abs square sqrt rsqrt pow.

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/numbers/square_root.hpp>
#include <ostraka/operations/elements/element_function.hpp>

namespace ostraka {

namespace function {

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
  static void run(std::int64_t count, T* to, T const* from) {
    engine::square_roots(count, to, from);
  }
  template <class T>
    requires is_narrow<T>
  static void run(std::int64_t count, T* to, T const* from) {
    engine::in_floats(count, to, from, [](std::int64_t n, float* x) { run(n, x, static_cast<float const*>(x)); });
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
  static void run(std::int64_t count, T* to, T const* from) {
    engine::square_roots(count, to, from);
    engine::for_each_independent(count, [=](std::int64_t i) { to[i] = T(1) / to[i]; });
  }
  template <class T>
    requires is_narrow<T>
  static void run(std::int64_t count, T* to, T const* from) {
    engine::in_floats(count, to, from, [](std::int64_t n, float* x) { run(n, x, static_cast<float const*>(x)); });
  }
};

/// x to the power of y.
struct pow {
  using is_verb = void;
  static constexpr auto defined = defined_for::fractions;
  template <class T>
    requires(detail::is_number<T> && detail::is_defined<T, defined>)
  KOKKOS_INLINE_FUNCTION T operator()(T const& x, T const& y) const {
    using wide = accumulator_of_t<T>;
    return T(std::pow(static_cast<wide>(x), static_cast<wide>(y)));
  }

  /// By argument K, and of that by argument L (ostraka/gradient.hpp).
  template <int K, class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const& x, T const& y) const {
    return detail::derivative_of_numbers<pow, K>(x, y);
  }
  template <int K, int L, class T>
  KOKKOS_INLINE_FUNCTION T second_derivative(T const& x, T const& y) const {
    return detail::second_derivative_of_numbers<pow, K, L>(x, y);
  }

  /// Two tensors, or one and a number, as in os::multiply.
  template <class A, class B>
    requires(!any_variable<A, B> && (is_tensor<A> || is_tensor<B>) && ArithmeticOperands<A, B>)
  [[nodiscard]] constexpr auto operator()(A const& a, B const& b) const {
    using value = typename std::conditional_t<is_tensor<A>, A, B>::value_type;
    return detail::arithmetic_of_two<pow, detail::function_verdict<pow, value>>("pow", *this, a, b);
  }

  template <class A, class B>
    requires any_variable<A, B>
  [[nodiscard]] constexpr auto operator()(A const& a, B const& b) const {
    return differentiate(*this, a, b);  // of gradient/rules/derivative_of.hpp
  }
};

}  // namespace function

template <reduction Kind>
inline constexpr preservation preserves<function::abs, Kind> = multiplicative(Kind);
template <reduction Kind>
inline constexpr preservation preserves<function::square, Kind> = multiplicative(Kind);

OSTRAKA_DETAIL_FUNCTION_OBJECT function::abs abs{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::square square{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::sqrt sqrt{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::rsqrt rsqrt{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::pow pow{};

}  // namespace ostraka
