// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Exponentials and logarithms of elements, and what is made of them: exp expm1 log log1p erf sin cos tanh.

#include <cmath>

#include <ostraka/engine/kernels/numbers/math.hpp>
#include <ostraka/operations/elements/element_function.hpp>

namespace ostraka {

namespace function {

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

}  // namespace function

OSTRAKA_DETAIL_FUNCTION_OBJECT function::exp exp{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::expm1 expm1{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::log log{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::log1p log1p{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::erf erf{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::sin sin{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::cos cos{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::tanh tanh{};

}  // namespace ostraka
