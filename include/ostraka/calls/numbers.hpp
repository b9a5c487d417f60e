// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Numbers that a program gives among elements of type T: the 2 of `os::alpha = 2`, the 2.5 of
/// `os::full<float, I>(mesh, I = 8, 2.5)` and of `os::scale(A, 2.5)`. A number is of the elements' kind: an integer
/// among integers, real among real ones. It is rounded to the element type; nothing else is converted. An integer that
/// elements of an integer type cannot hold is an error.

#include <Kokkos_Core.hpp>

#include <complex>
#include <limits>
#include <string>
#include <type_traits>

#include <ostraka/types/reasons.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::detail {

template <class T>
struct complex_parts;

template <class R>
struct complex_parts<std::complex<R>> {
  using type = R;
};

template <class R>
struct complex_parts<Kokkos::complex<R>> {
  using type = R;
};

template <class T>
concept complex_number = requires { typename complex_parts<T>::type; };

/// True for a number.
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || is_narrow<T> || complex_number<T>;

/// True if a number of this type is of the kind of elements of type T.
template <class Number, class T>
inline constexpr bool is_number_among =
    std::is_integral_v<T>                         ? std::is_integral_v<Number>
    : std::is_floating_point_v<T> || is_narrow<T> ? std::is_arithmetic_v<Number> || is_narrow<Number>
                                                  : std::is_arithmetic_v<Number> || complex_number<Number>;

template <class Number, class T>
consteval auto check_number() {
  if constexpr (is_number_among<Number, T>)
    return found<reason::ok>{};
  else
    return found<reason::number_of_another_kind<Number, T>>{};
}

template <class Number, class T>
using number_verdict = typename decltype(check_number<Number, T>())::type;

[[noreturn, gnu::cold]] inline void number_out_of_range(std::string const& operation, std::string const& number,
                                                        std::string const& least, std::string const& most) {
  throw_error(operation, ": a number that meets integers has to be in their range, from ", least, " to ", most,
              ", but it is ", number, "; use a wider element type");
}

/// The number as an element. All devices pass the same number. @throws ostraka::error if an integer is out of the range
/// of the elements' integer type
template <class T, class Number>
constexpr T as_element([[maybe_unused]] char const* operation, Number const& n) {
  if constexpr (complex_number<Number>) {
    using real = typename complex_parts<T>::type;
    return T(static_cast<real>(n.real()), static_cast<real>(n.imag()));
  } else if constexpr (complex_number<T>) {
    return T(static_cast<typename complex_parts<T>::type>(n));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<Number, bool>) {
    T const element = static_cast<T>(n);
    if (static_cast<Number>(element) != n || (element < T{}) != (n < Number{}))
      number_out_of_range(operation, std::to_string(n), std::to_string(std::numeric_limits<T>::lowest()),
                          std::to_string(std::numeric_limits<T>::max()));
    return element;
  } else {
    return static_cast<T>(n);
  }
}

}  // namespace ostraka::detail
