// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. First and second derivatives of the functions of one element (operations/elements/functions.hpp), of float
/// and double, and of complex numbers, where those functions have derivatives. They lose no digits to differences of
/// numbers that are nearly equal, but where a derivative crosses zero, and have their limits at ±∞. Where a function
/// has a kink or a pole they are what JAX has:
///
///     relu'(0) = 0     abs'(0) = 0     sqrt'(0) = ∞     log'(0) = ∞     floor' = ceil' = round' = 0
///
/// Where `of_the_result` is said the first derivative is a function of the result, which programs keep anyway, and
/// `second` is derived by the result, too.

#include <cmath>
#include <type_traits>

#include <ostraka/engine/kernels/numbers/math.hpp>
#include <ostraka/engine/kernels/numbers/normal_tail.hpp>
#include <ostraka/operations/elements/functions.hpp>

namespace ostraka::detail {

struct of_the_result {};

/// Of functions that do not change but by jumps: what they give is a constant.
struct derivative_zero {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T) {
    return T(0);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T) {
    return T(0);
  }
};

template <>
struct function_derivative<function::floor> : derivative_zero {};
template <>
struct function_derivative<function::ceil> : derivative_zero {};
template <>
struct function_derivative<function::round> : derivative_zero {};

template <>
struct function_derivative<function::relu> : of_the_result {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T y) {
    return y > T(0) ? T(1) : T(0);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T) {
    return T(0);
  }
};

template <>
struct function_derivative<function::abs> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;  // 0 and NaN are their own
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T) {
    return T(0);
  }
};

template <>
struct function_derivative<function::square> {
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
struct function_derivative<function::exp> : of_the_result {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T y) {
    return y;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T) {
    return T(1);
  }
};

/// Of the operand: y + 1 is nothing but a rounding error where x is far below zero.
template <>
struct function_derivative<function::expm1> {
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
struct function_derivative<function::log> {
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
struct function_derivative<function::log1p> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    return T(1) / (T(1) + x);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    return -first(x) * first(x);
  }
};

/// By a mask on hosts, as in math.hpp: of a choice in front of an exponential compilers make branches.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T chosen(bool condition, T yes, T no) {
#if OSTRAKA_DETAIL_DEVICE_MATH
  return condition ? yes : no;
#else
  return engine::detail::select(condition, yes, no);
#endif
}

/// x, or where it is beyond ±limit, where exponentials of it are 0, that: so that 0 meets no infinity. NaN stays.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T cut_off(T x, T limit) {
  return chosen(x > limit, limit, chosen(x < -limit, -limit, x));
}

/// 2 / √π exp(−x²)
template <>
struct function_derivative<function::erf> {
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
struct function_derivative<function::sqrt> : of_the_result {
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
struct function_derivative<function::rsqrt> : of_the_result {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T y) {
    return T(-0.5) * y * y * y;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T y) {
    return T(-1.5) * y * y;
  }
};

template <>
struct function_derivative<function::sin> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    return function::cos::of(x);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    return -function::sin::of(x);
  }
};

template <>
struct function_derivative<function::cos> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    return -function::sin::of(x);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    return -function::cos::of(x);
  }
};

/// 4 e / (1 + e)², e = exp(−2 |x|): 1 − tanh² loses all digits where tanh is nearly 1. Of complex numbers x or −x,
/// whichever is on the right.
template <>
struct function_derivative<function::tanh> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    T const e = function::exp::of(T(-2) * rightwards(x));
    return T(4) * e / ((T(1) + e) * (T(1) + e));
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    return T(-2) * function::tanh::of(x) * first(x);
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

/// e / (1 + e)², e = exp(−|x|); and of it −tanh(x/2) times that.
template <>
struct function_derivative<function::sigmoid> {
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

/// s (1 + x s(−x)), s being the sigmoid.
template <>
struct function_derivative<function::silu> {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T first(T x) {
    T const b = cut_off(x, T(1000));
    T const e = engine::exp(-std::abs(b)), lesser = e / (T(1) + e), larger = T(1) / (T(1) + e);
    return chosen(b < T(0), lesser, larger) * (T(1) + b * chosen(b < T(0), larger, lesser));
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    T const b = cut_off(x, T(1000));
    return function_derivative<function::sigmoid>::first(b) * (T(2) - b * engine::tanh(T(0.5) * b));
  }
};

/// Φ + x φ, φ being the density of the normal distribution Φ.
template <>
struct function_derivative<function::gelu> {
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

/// s(v) + x s'(v) v', v = √(8/π) (x + 0.044715 x³), s being the sigmoid.
template <>
struct function_derivative<function::gelu_tanh> {
  using sigmoid_derivative = function_derivative<function::sigmoid>;
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
    return function::sigmoid::of(v(b)) + b * sigmoid_derivative::first(v(b)) * dv(b);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static T second(T x) {
    T const b = cut_off(x, T(100)), d = dv(b);
    return sigmoid_derivative::first(v(b)) *
           (T(2) * d + b * (T(6 * scale * cubic) * b - d * d * engine::tanh(T(0.5) * v(b))));
  }
};

/// y x^(y−1) and x^y log x, and of these; where y = 0 the first is 0, and of x = 0 the logarithm counts as 0, as in
/// JAX.
template <>
struct function_derivative<function::pow> {
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

/// What formulas of a number are computed in.
template <class T>
using wide_number = std::conditional_t<is_narrow<T>, float, T>;

/// F's first derivative by its argument, and the second.
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

/// The same of two arguments: by argument K, and of that by argument L.
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
