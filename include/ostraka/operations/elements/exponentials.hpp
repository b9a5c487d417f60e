// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Exponentials and logarithms of elements, and functions made from them: exp expm1 log log1p erf sin cos
/// tanh.

#include <cmath>

#include <ostraka/engine/kernels/numbers/math.hpp>
#include <ostraka/operations/elements/element_function.hpp>

namespace ostraka {

namespace operation {

using detail::defined_for;
using detail::element_function;

struct exp : element_function<exp> {
  static constexpr char const* name = "exp";
  static constexpr auto defined = defined_for::fractions_and_complex;
  static constexpr bool grows = true;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T const& x) {
    if constexpr (detail::complex_number<T>) {
      using std::exp;
      return exp(x);
    } else {
      return engine::exp(x);
    }
  }
};

struct expm1 : element_function<expm1> {
  static constexpr char const* name = "expm1";
  static constexpr auto defined = defined_for::fractions;
  static constexpr bool grows = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    return std::expm1(x);
  }
};

struct log : element_function<log> {
  static constexpr char const* name = "log";
  static constexpr auto defined = defined_for::fractions_and_complex;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T const& x) {
    if constexpr (detail::complex_number<T>) {
      using std::log;
      return log(x);
    } else {
      return engine::log(x);
    }
  }
};

struct log1p : element_function<log1p> {
  static constexpr char const* name = "log1p";
  static constexpr auto defined = defined_for::fractions;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    return std::log1p(x);
  }
};

struct erf : element_function<erf> {
  static constexpr char const* name = "erf";
  static constexpr auto defined = defined_for::fractions;
  static constexpr bool grows = true;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    return engine::erf(x);
  }
};

struct sin : element_function<sin> {
  static constexpr char const* name = "sin";
  static constexpr auto defined = defined_for::fractions_and_complex;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T const& x) {
    using std::sin;
    return sin(x);
  }
};

struct cos : element_function<cos> {
  static constexpr char const* name = "cos";
  static constexpr auto defined = defined_for::fractions_and_complex;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T const& x) {
    using std::cos;
    return cos(x);
  }
};

struct tanh : element_function<tanh> {
  static constexpr char const* name = "tanh";
  static constexpr auto defined = defined_for::fractions_and_complex;
  static constexpr bool grows = true;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T const& x) {
    if constexpr (detail::complex_number<T>) {
      using std::tanh;
      return tanh(x);
    } else {
      return engine::tanh(x);
    }
  }
};

}  // namespace operation

namespace detail {

template <>
struct function_derivative<operation::exp> : of_the_result {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T y) {
    return y;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T) {
    return T(1);
  }
};

/// Computed from the operand, because y + 1 is only a rounding error if x is far below zero.
template <>
struct function_derivative<operation::expm1> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    return engine::exp(x);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    return engine::exp(x);
  }
};

template <>
struct function_derivative<operation::log> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    return T(1) / x;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    return -(T(1) / x) * (T(1) / x);
  }
};

template <>
struct function_derivative<operation::log1p> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    return T(1) / (T(1) + x);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    return -first(x) * first(x);
  }
};

/// 2 / √π exp(−x²)
template <>
struct function_derivative<operation::erf> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    return T(1.12837916709551257390) * engine::exp(-x * x);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    T const b = cut_off(x, T(40));
    return T(-2) * b * first(b);
  }
};

template <>
struct function_derivative<operation::sin> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    return operation::cos::of(x);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    return -operation::sin::of(x);
  }
};

template <>
struct function_derivative<operation::cos> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    return -operation::sin::of(x);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    return -operation::cos::of(x);
  }
};

/// 4 e / (1 + e)², e = exp(−2 |x|): 1 − tanh² loses all digits where tanh is nearly 1. For complex numbers, x or −x
/// takes the place of |x|: the one with a real part that is not negative.
template <>
struct function_derivative<operation::tanh> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    T const e = operation::exp::of(T(-2) * rightwards(x));
    return T(4) * e / ((T(1) + e) * (T(1) + e));
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    return T(-2) * operation::tanh::of(x) * first(x);
  }

 private:
  template <class T>
  KOKKOS_INLINE_FUNCTION static T rightwards(T const& x) {
    if constexpr (complex_number<T>)
      return x.real() < 0 ? -x : x;
    else
      return std::abs(x);
  }
};

}  // namespace detail

/// eˣ, element by element.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::exp exp{};
/// eˣ − 1, accurate for x near 0.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::expm1 expm1{};
/// The natural logarithm, element by element.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::log log{};
/// log(1 + x), accurate for x near 0.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::log1p log1p{};
/// The error function, element by element.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::erf erf{};
/// The sine, element by element, of radians.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::sin sin{};
/// The cosine, element by element, of radians.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::cos cos{};
/// The hyperbolic tangent, element by element.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::tanh tanh{};

}  // namespace ostraka
