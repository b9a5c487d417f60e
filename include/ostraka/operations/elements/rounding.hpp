// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Rounding of elements, and tests for NaN and infinity: floor ceil round isnan isfinite.

#include <cmath>
#include <type_traits>

#include <ostraka/operations/elements/element_function.hpp>

namespace ostraka {

namespace detail {

/// The base of functions that round floating-point numbers, by `F::of_fraction(x)`. Integers are returned unchanged.
template <class F>
struct rounding : element_function<F> {
  static constexpr auto defined = defined_for::all_but_complex;
  static constexpr bool grows = true;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return F::of_fraction(x);
  }
};

}  // namespace detail

namespace operation {

using detail::defined_for;
using detail::element_function;

struct floor : detail::rounding<floor> {
  static constexpr char const* name = "floor";
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of_fraction(T x) {
    return std::floor(x);
  }
};

struct ceil : detail::rounding<ceil> {
  static constexpr char const* name = "ceil";
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of_fraction(T x) {
    return std::ceil(x);
  }
};

/// The nearest integer; halfway cases round to even, as in NumPy.
struct round : detail::rounding<round> {
  static constexpr char const* name = "round";
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of_fraction(T x) {
    return std::rint(x);
  }
};

struct isnan : element_function<isnan> {
  static constexpr char const* name = "isnan";
  static constexpr auto defined = defined_for::all;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static bool of(T const& x) {
    return !(x == x);
  }
};

/// True if x is neither NaN nor infinite.
struct isfinite : element_function<isfinite> {
  static constexpr char const* name = "isfinite";
  static constexpr auto defined = defined_for::all;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static bool of(T const& x) {
    if constexpr (detail::complex_number<T>)
      return of(x.real()) && of(x.imag());
    else
      return x - x == T(0);
  }
};

}  // namespace operation

namespace detail {

template <>
struct function_derivative<operation::floor> : derivative_zero {};

template <>
struct function_derivative<operation::ceil> : derivative_zero {};

template <>
struct function_derivative<operation::round> : derivative_zero {};

}  // namespace detail

/// The greatest integer not above x.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::floor floor{};
/// The least integer not below x.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::ceil ceil{};
/// The nearest integer; halfway cases round to even, as in NumPy.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::round round{};
/// True where x is NaN: a tensor of bools.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::isnan isnan{};
/// True where x is neither NaN nor infinite: a tensor of bools.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::isfinite isfinite{};

}  // namespace ostraka
