// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The parts of complex numbers: `os::real(A)`, `os::imag(A)`, which are real, and `os::conj(A)`. As in NumPy,
/// real numbers are their own real parts and conjugates, and have the imaginary part 0. If the operand is a partial
/// sum, so are the results of all three:
///
///     A[I] {U_X}   →   real, imag, conj   [I] {U_X}

#include <ostraka/operations/elements/element_function.hpp>

namespace ostraka {

namespace operation {

struct conj : detail::element_function<conj> {
  static constexpr char const* name = "conj";
  static constexpr auto defined = detail::defined_for::all;
  static constexpr bool is_holomorphic = false;
  template <class T>
  KOKKOS_INLINE_FUNCTION static T of(T const& x) {
    if constexpr (detail::complex_number<T>)
      return T(x.real(), -x.imag());
    else
      return x;
  }
};

struct real : detail::element_function<real> {
  static constexpr char const* name = "real";
  static constexpr auto defined = detail::defined_for::all;
  static constexpr bool is_holomorphic = false;
  template <class T>
  KOKKOS_INLINE_FUNCTION static detail::real_of<T> of(T const& x) {
    if constexpr (detail::complex_number<T>)
      return x.real();
    else
      return x;
  }
};

struct imag : detail::element_function<imag> {
  static constexpr char const* name = "imag";
  static constexpr auto defined = detail::defined_for::all;
  static constexpr bool is_holomorphic = false;
  template <class T>
  KOKKOS_INLINE_FUNCTION static detail::real_of<T> of(T const& x) {
    if constexpr (detail::complex_number<T>)
      return x.imag();
    else
      return T(0);
  }
};

}  // namespace operation

template <reduction Kind>
inline constexpr preservation preserves<operation::conj, Kind> = linear(Kind) | multiplicative(Kind);
template <reduction Kind>
inline constexpr preservation preserves<operation::real, Kind> = linear(Kind);
template <reduction Kind>
inline constexpr preservation preserves<operation::imag, Kind> = linear(Kind);

/// The complex conjugate, element by element.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::conj conj{};
/// The real part of each element.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::real real{};
/// The imaginary part of each element.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::imag imag{};

}  // namespace ostraka
