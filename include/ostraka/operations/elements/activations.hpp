// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Activations of networks: relu sigmoid silu gelu gelu_tanh.

#include <cmath>

#include <ostraka/engine/kernels/numbers/math.hpp>
#include <ostraka/engine/kernels/numbers/normal_tail.hpp>
#include <ostraka/operations/elements/element_function.hpp>

namespace ostraka {

namespace operation {

using detail::defined_for;
using detail::element_function;

struct relu : element_function<relu> {
  static constexpr char const* name = "relu";
  static constexpr auto defined = defined_for::all_but_complex;
  static constexpr bool grows = true;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    return x < T(0) ? T(0) : x;
  }
};

/// 1 / (1 + exp(−x)), computed with the exponential that is at most 1.
struct sigmoid : element_function<sigmoid> {
  static constexpr char const* name = "sigmoid";
  static constexpr auto defined = defined_for::fractions;
  static constexpr bool grows = true;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    T const e = engine::exp(-std::abs(x));
    return (x < T(0) ? e : T(1)) / (T(1) + e);
  }
};

/// x sigmoid(x); NaN at −∞, as in JAX.
struct silu : element_function<silu> {
  static constexpr char const* name = "silu";
  static constexpr auto defined = defined_for::fractions;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    return x * sigmoid::of(x);
  }
};

/// x Φ(x), where Φ is the distribution function of the normal distribution: x/2 erfc(−x/√2), accurate where Φ is small.
/// NaN at −∞, as in JAX.
struct gelu : element_function<gelu> {
  static constexpr char const* name = "gelu";
  static constexpr auto defined = defined_for::fractions;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    T const tail = engine::normal_tail(std::abs(x));
    return x * (x < T(0) ? tail : T(1) - tail);
  }
};

/// The same with tanh: x/2 (1 + tanh(u)), u = √(2/π) (x + 0.044715 x³), which is x sigmoid(2u).
struct gelu_tanh : element_function<gelu_tanh> {
  static constexpr char const* name = "gelu_tanh";
  static constexpr auto defined = defined_for::fractions;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    T const twice_u = T(1.5957691216057307117) * (x + T(0.044715) * x * x * x);
    return x * sigmoid::of(twice_u);
  }
};

}  // namespace operation

namespace detail {

template <>
struct function_derivative<operation::relu> : of_the_result {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T y) {
    return y > T(0) ? T(1) : T(0);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T) {
    return T(0);
  }
};

/// e / (1 + e)², e = exp(−|x|); the second derivative is −tanh(x/2) times that.
template <>
struct function_derivative<operation::sigmoid> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    T const e = engine::exp(-std::abs(x));
    return e / ((T(1) + e) * (T(1) + e));
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    return -engine::tanh(T(0.5) * x) * first(x);
  }
};

/// s (1 + x s(−x)), where s is the sigmoid.
template <>
struct function_derivative<operation::silu> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    T const b = cut_off(x, T(1000));
    T const e = engine::exp(-std::abs(b)), lesser = e / (T(1) + e), larger = T(1) / (T(1) + e);
    return chosen(b < T(0), lesser, larger) * (T(1) + b * chosen(b < T(0), larger, lesser));
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    T const b = cut_off(x, T(1000));
    return function_derivative<operation::sigmoid>::first(b) * (T(2) - b * engine::tanh(T(0.5) * b));
  }
};

/// Φ + x φ, where φ is the density of the normal distribution Φ.
template <>
struct function_derivative<operation::gelu> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T density(T x) {
    return T(0.39894228040143267794) * engine::exp(T(-0.5) * x * x);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    T const b = cut_off(x, T(40)), tail = engine::normal_tail(std::abs(b));
    return chosen(b < T(0), tail, T(1) - tail) + b * density(b);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    T const b = cut_off(x, T(40));
    return density(b) * (T(2) - b * b);
  }
};

/// s(v) + x s'(v) v', v = √(8/π) (x + 0.044715 x³), where s is the sigmoid.
template <>
struct function_derivative<operation::gelu_tanh> {
  using sigmoid_derivative = function_derivative<operation::sigmoid>;
  static constexpr double scale = 1.5957691216057307117, cubic = 0.044715;

  template <class T>
  KOKKOS_INLINE_FUNCTION static T v(T x) {
    return T(scale) * (x + T(cubic) * x * x * x);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T dv(T x) {
    return T(scale) * (T(1) + T(3 * cubic) * x * x);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    T const b = cut_off(x, T(100));
    return operation::sigmoid::of(v(b)) + b * sigmoid_derivative::first(v(b)) * dv(b);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    T const b = cut_off(x, T(100)), d = dv(b);
    return sigmoid_derivative::first(v(b)) *
           (T(2) * d + b * (T(6 * scale * cubic) * b - d * d * engine::tanh(T(0.5) * v(b))));
  }
};

}  // namespace detail

/// max(x, 0), element by element.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::relu relu{};
/// 1 / (1 + e⁻ˣ), element by element.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::sigmoid sigmoid{};
/// x · sigmoid(x), element by element; also called swish.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::silu silu{};
/// x · Φ(x) by the error function; Φ is the distribution function of the normal distribution.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::gelu gelu{};
/// The approximation of gelu with tanh.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::gelu_tanh gelu_tanh{};

}  // namespace ostraka
