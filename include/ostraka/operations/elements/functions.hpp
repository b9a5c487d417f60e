// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Functions of one element: `os::gelu(A)` of a tensor, `os::gelu(0.5f)` of a number, in device code, too, and
/// `os::map(os::gelu, A)`. Each is an object of a struct in ostraka::function, by which rules are found: what it keeps
/// of partial tensors is below.
///
///     numbers with a fraction      exp expm1 log log1p erf sqrt rsqrt sin cos tanh sigmoid silu gelu gelu_tanh pow
///     and integers                 relu floor ceil round isnan isfinite, clamp (clamp.hpp)
///     complex ones                 abs square exp log sqrt sin cos tanh isnan isfinite
///
/// Elements of 16 bits are computed as floats. NaN stays NaN, in relu, too.

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/numbers/math.hpp>
#include <ostraka/engine/kernels/numbers/normal_tail.hpp>
#include <ostraka/engine/kernels/numbers/square_root.hpp>
#include <ostraka/operations/elements/element_function.hpp>

namespace ostraka {

/// The functions as types, by which os::preserves and derivatives know them.
namespace function {

using detail::defined_for;
using detail::element_function;

struct relu : element_function<relu> {
  static constexpr char const* name = "relu";
  static constexpr auto defined = defined_for::all_but_complex;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    return x < T(0) ? T(0) : x;
  }
};

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

struct exp : element_function<exp> {
  static constexpr char const* name = "exp";
  static constexpr auto defined = defined_for::fractions_and_complex;
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
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    return engine::erf(x);
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

/// 1 / (1 + exp(−x)), by the exponential that is at most 1.
struct sigmoid : element_function<sigmoid> {
  static constexpr char const* name = "sigmoid";
  static constexpr auto defined = defined_for::fractions;
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

struct floor : element_function<floor> {
  static constexpr char const* name = "floor";
  static constexpr auto defined = defined_for::all_but_complex;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return std::floor(x);
  }
};

struct ceil : element_function<ceil> {
  static constexpr char const* name = "ceil";
  static constexpr auto defined = defined_for::all_but_complex;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return std::ceil(x);
  }
};

/// The nearest whole number, of two that are as near the even one, as NumPy rounds.
struct round : element_function<round> {
  static constexpr char const* name = "round";
  static constexpr auto defined = defined_for::all_but_complex;
  static constexpr bool has_wide_loops = true;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T x) {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
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

/// Neither NaN nor infinite.
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
    return differentiate(*this, a, b);  // of gradient/rules/operations/operations.hpp
  }
};

}  // namespace function

namespace detail {

/// Does it never fall, and is it defined for all numbers? Of the logarithm of parts, one may be NaN where that of their
/// maximum is none.
template <class F>
inline constexpr bool grows =
    is_one_of<F, function::relu, function::exp, function::expm1, function::erf, function::tanh, function::sigmoid,
              function::floor, function::ceil, function::round>;

}  // namespace detail

template <detail::ElementFunction F, reduction Kind>
  requires detail::grows<F>
inline constexpr preservation preserves<F, Kind> = non_decreasing(Kind);

template <reduction Kind>
inline constexpr preservation preserves<function::abs, Kind> = multiplicative(Kind);
template <reduction Kind>
inline constexpr preservation preserves<function::square, Kind> = multiplicative(Kind);

OSTRAKA_DETAIL_FUNCTION_OBJECT function::relu relu{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::abs abs{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::square square{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::exp exp{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::expm1 expm1{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::log log{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::log1p log1p{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::erf erf{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::sqrt sqrt{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::rsqrt rsqrt{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::sin sin{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::cos cos{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::tanh tanh{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::sigmoid sigmoid{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::silu silu{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::gelu gelu{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::gelu_tanh gelu_tanh{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::floor floor{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::ceil ceil{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::round round{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::isnan isnan{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::isfinite isfinite{};
OSTRAKA_DETAIL_FUNCTION_OBJECT function::pow pow{};

}  // namespace ostraka
