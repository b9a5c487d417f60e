// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::clamp(A, least, most)`: each element, or the nearest number in [least, most]; NaN stays NaN. Of
/// integers and of numbers with a fraction; it keeps the parts of maxima and minima.

#include <ostraka/operations/elements/element_function.hpp>

namespace ostraka {

namespace function {

using detail::defined_for;

/// Of an element: the nearest in [least, most].
template <class T>
struct clamp_between {
  T least, most;
  KOKKOS_INLINE_FUNCTION T operator()(T const& x) const { return x < least ? least : most < x ? most : x; }

  /// Of what stays as it is 1; at least and most themselves 0, as in JAX.
  KOKKOS_INLINE_FUNCTION T derivative(T const& x) const { return least < x && x < most ? T(1) : T(0); }
  KOKKOS_INLINE_FUNCTION T second_derivative(T const&) const { return T(0); }
};

/// The nearest in [least, most].
struct clamp {
  using is_verb = void;
  static constexpr auto defined = defined_for::all_but_complex;

  template <class T>
    requires(detail::is_number<T> && detail::is_defined<T, defined>)
  KOKKOS_INLINE_FUNCTION T operator()(T const& x, T const& least, T const& most) const {
    return clamp_between<T>{least, most}(x);
  }

  template <Tensor A, class Least, class Most>
    requires(detail::is_number<Least> && detail::is_number<Most>)
  [[nodiscard]] constexpr auto operator()(A const& a, Least const& least, Most const& most) const {
    using value = typename A::value_type;
    using verdict = detail::first_fault<detail::function_verdict<clamp, value>, detail::number_verdict<Least, value>,
                                        detail::number_verdict<Most, value>>;
    if constexpr (reason::ok_or_raise<verdict>()) {
      clamp_between<value> const f{detail::as_element<value>("clamp", least), detail::as_element<value>("clamp", most)};
      if (f.most < f.least) throw_error("clamp: the least number is none beyond the largest; give the least one first");
      return detail::checked_map<clamp, clamp_between<value>, reason::ok, value>("clamp", f, a);
    } else {
      return detail::after_error_of<value, typename A::sharding_type, typename A::space>();
    }
  }

  template <Variable A, class Least, class Most>
  [[nodiscard]] constexpr auto operator()(A const& a, Least const& least, Most const& most) const {
    return differentiate(*this, a, least, most);  // of gradient/rules/derivative_of.hpp
  }
};

}  // namespace function

template <class T>
inline constexpr bool engine::detail::is_worth_width<function::clamp_between<T>> = true;

template <class T, reduction Kind>
inline constexpr preservation preserves<function::clamp_between<T>, Kind> = non_decreasing(Kind);

OSTRAKA_DETAIL_FUNCTION_OBJECT function::clamp clamp{};

}  // namespace ostraka
