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

namespace function {

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

/// 1 / (1 + exp(−x)), by the exponential that is at most 1.
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

/// x sigmoid(x); NaN of −∞, as JAX has it.
struct silu : element_function<silu> {
  static constexpr char const* name = "silu";
  static constexpr auto defined = defined_for::fractions;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    return x * sigmoid::of(x);
  }
};

/// x Φ(x), Φ being the normal distribution: x/2 erfc(−x/√2), also where it is small. NaN of −∞, as JAX has it.
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

}  // namespace function

OSTRAKA_DETAIL_FUNCTION_OBJECT function::relu relu{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::sigmoid sigmoid{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::silu silu{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::gelu gelu{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::gelu_tanh gelu_tanh{};

}  // namespace ostraka
