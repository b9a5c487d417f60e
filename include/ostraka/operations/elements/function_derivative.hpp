// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of a function of one element F follow its struct: a function_derivative<F> whose `first`
/// and `second` take float, double, and complex numbers if F has derivatives there. They avoid cancellation, except
/// where a derivative crosses zero, and at ±∞ they have their limits. At a kink or a pole they have JAX's values:
///
///     relu'(0) = 0     abs'(0) = 0     sqrt'(0) = ∞     log'(0) = ∞     floor' = ceil' = round' = 0
///
/// The base `of_the_result` says that `first` is a function of the result, which programs keep anyway, and that
/// `second` is its derivative by the result. The base `derivative_zero` is for functions that are piecewise constant.

#include <type_traits>

#include <ostraka/engine/kernels/numbers/math.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::detail {

/// The derivatives of F.
template <class F>
struct function_derivative;

struct of_the_result {};

/// For piecewise constant functions: their results count as constants.
struct derivative_zero {
  using is_constant = void;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T) {
    return T(0);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T) {
    return T(0);
  }
};

/// Uses a mask on hosts, as in math.hpp, because compilers turn a choice in front of an exponential into branches.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T chosen(bool condition, T yes, T no) {
#if OSTRAKA_DETAIL_DEVICE_MATH
  return condition ? yes : no;
#else
  return engine::detail::select(condition, yes, no);
#endif
}

/// x, clamped to ±limit, beyond which its exponentials are 0, so that 0 is never multiplied by infinity. NaN stays NaN.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T cut_off(T x, T limit) {
  return chosen(x > limit, limit, chosen(x < -limit, -limit, x));
}

/// The type in which formulas of a number are computed.
template <class T>
using wide_number = std::conditional_t<is_narrow<T>, float, T>;

/// F's first and second derivatives by its argument.
template <class F, class T>
KOKKOS_INLINE_FUNCTION T derivative_of_number(T const& number) {
  using d = function_derivative<F>;
  auto const x = static_cast<wide_number<T>>(number);
  if constexpr (std::is_base_of_v<of_the_result, d>)
    return T(d::first(F::of(x)));
  else
    return T(d::first(x));
}
template <class F, class T>
KOKKOS_INLINE_FUNCTION T second_derivative_of_number(T const& number) {
  using d = function_derivative<F>;
  auto const x = static_cast<wide_number<T>>(number);
  if constexpr (std::is_base_of_v<of_the_result, d>)
    return T(d::second(F::of(x)) * d::first(F::of(x)));
  else
    return T(d::second(x));
}

/// The same for two arguments: the derivative by argument K, and its derivative by argument L.
template <class F, int K, class T>
KOKKOS_INLINE_FUNCTION T derivative_of_numbers(T const& x, T const& y) {
  using wide = wide_number<T>;
  return T(function_derivative<F>::template first<K>(static_cast<wide>(x), static_cast<wide>(y)));
}
template <class F, int K, int L, class T>
KOKKOS_INLINE_FUNCTION T second_derivative_of_numbers(T const& x, T const& y) {
  using wide = wide_number<T>;
  return T(function_derivative<F>::template second<K, L>(static_cast<wide>(x), static_cast<wide>(y)));
}

}  // namespace ostraka::detail
