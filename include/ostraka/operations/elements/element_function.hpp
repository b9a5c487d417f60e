// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The base of functions of one element (functions.hpp). They take numbers, also in device code, and tensors,
/// which they map. Elements of 16 bits are computed as floats. Each function is defined for some elements only.
///
///     struct sin : detail::element_function<sin> {
///       static constexpr char const* name = "sin";
///       static constexpr auto defined = detail::defined_for::fractions_and_complex;
///       template <class T>
///       KOKKOS_INLINE_FUNCTION static T of(T const& x);
///     };
///
/// Its derivatives follow it (function_derivative.hpp).

#include <concepts>
#include <type_traits>
#include <utility>

#include <ostraka/calls/numbers.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/operations/elements/function_derivative.hpp>

// In device code, an accelerator's compiler can use only objects of the device.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#  define OSTRAKA_DETAIL_FUNCTION_OBJECT static constexpr __device__
#else
#  define OSTRAKA_DETAIL_FUNCTION_OBJECT inline constexpr
#endif

namespace ostraka {

namespace detail {

/// The elements for which a function is defined: floating-point numbers (`fractions`) and perhaps others.
enum class defined_for { fractions, fractions_and_complex, all_but_complex, all };

template <class T, defined_for Which>
inline constexpr bool is_defined =
    !std::is_same_v<T, bool> &&
    (complex_number<T>       ? Which == defined_for::fractions_and_complex || Which == defined_for::all
     : std::is_integral_v<T> ? Which == defined_for::all_but_complex || Which == defined_for::all
                             : true);

// T is deduced, because F is not complete where its base is.
template <class F, class T>
inline constexpr bool takes_number = is_number<T>&& is_defined<T, F::defined>;

template <class F, class T>
consteval auto check_function() {
  if constexpr (is_defined<T, F::defined>)
    return found<reason::ok>{};
  else
    return found<reason::function_undefined_for_elements<T, F>>{};
}

/// `reason::ok` if F is defined for elements T.
template <class F, class T>
using function_verdict = typename decltype(check_function<F, T>())::type;

// True if F has a derivative, a number, at numbers of this type: at complex ones, if it is holomorphic.
template <class F, class T>
inline constexpr bool takes_derivative = is_number<T> &&
                                         (complex_number<T>
                                              ? is_defined<T, F::defined> && F::is_holomorphic
                                              : is_defined<T, defined_for::fractions> && !std::is_integral_v<T>);

/// F's result for an element; for one of 16 bits, the result in float, rounded.
template <class F, class T>
KOKKOS_INLINE_FUNCTION auto function_of_number(T const& x) {
  if constexpr (is_narrow<T>) {
    auto const wide = F::of(static_cast<float>(x));
    if constexpr (std::is_same_v<decltype(wide), bool const>)
      return wide;
    else
      return T(wide);
  } else {
    return F::of(x);
  }
}

template <class F, class T>
using function_result = decltype(function_of_number<F>(std::declval<T const&>()));

template <class F, class A>
consteval auto check_function_of_elements() {
  using of_elements = function_verdict<F, typename A::value_type>;
  if constexpr (std::is_same_v<of_elements, reason::ok>)
    return found<map_verdict<F, F, reason::ok, function_result<F, typename A::value_type>, A>>{};
  else
    return found<of_elements>{};
}

/// The base of functions of one element. F defines the function of numbers, `F::of(x)`, and the numbers for which it is
/// defined, `F::defined`.
template <class F>
struct element_function : moves_nothing {
  static constexpr bool has_wide_loops = false;  ///< its loops are compiled for wide vectors, too
  static constexpr bool is_holomorphic = true;   ///< as a complex function, if it is defined for complex numbers
  /// True if F is non-decreasing and defined for all numbers. (log is not: it may be NaN at a part and a number at the
  /// parts' maximum.)
  static constexpr bool grows = false;

  template <class T>
  requires takes_number<F, T> KOKKOS_INLINE_FUNCTION auto operator()(T const& x) const {
    return function_of_number<F>(x);
  }

  /// The derivatives at a floating-point number, for derivatives of functions that call this one.
  template <class T>
    requires takes_derivative<F, T> KOKKOS_INLINE_FUNCTION T derivative(T const& x)
  const { return derivative_of_number<F>(x); }
  template <class T>
    requires takes_derivative<F, T> KOKKOS_INLINE_FUNCTION T second_derivative(T const& x)
  const { return second_derivative_of_number<F>(x); }

  template <TensorOrVariable A>
  [[nodiscard]] constexpr auto operator()(A const& a) const {
    return operate(F{}, a);
  }

  template <class A>
  using verdict = typename decltype(check_function_of_elements<F, A>())::type;
  template <class How, class A>
  auto run(How const&, A const& a) const {
    return run_map<map_types<F, A>, function_result<F, typename A::value_type>>(F::name, F{}, a);
  }
};

template <class F>
concept ElementFunction = std::derived_from<F, element_function<F>>;

}  // namespace detail

template <detail::ElementFunction F>
inline constexpr bool engine::detail::is_worth_width<F> = F::has_wide_loops;

template <detail::ElementFunction F, reduction Kind>
  requires(F::grows)
inline constexpr preservation preserves<F, Kind> = non_decreasing(Kind);

}  // namespace ostraka
