// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::clamp(A, least, most)`: each element, or the nearest number in [least, most]; NaN stays NaN. For
/// integers and floating-point numbers. Partial maxima and minima stay partial.

#include <ostraka/operations/elements/element_function.hpp>

namespace ostraka {

namespace operation {

struct clamp;

}  // namespace operation

namespace detail {

/// The nearest number in [least, most].
template <class T>
struct clamp_between {
  T least, most;
  KOKKOS_INLINE_FUNCTION T operator()(T const& x) const { return x < least ? least : most < x ? most : x; }

  /// 1 for elements strictly between the bounds, else 0; so 0 at the bounds themselves, as in JAX.
  KOKKOS_INLINE_FUNCTION T derivative(T const& x) const { return least < x && x < most ? T(1) : T(0); }
  KOKKOS_INLINE_FUNCTION T second_derivative(T const&) const { return T(0); }
};

/// The function of elements T that clamps to these numbers.
template <class T, class Least, class Most>
constexpr clamp_between<T> between_numbers(Least const& least, Most const& most) {
  return {as_element<T>("clamp", least), as_element<T>("clamp", most)};
}

template <class T, class A, class Least, class Most>
using clamp_verdict =
    map_verdict<operation::clamp, clamp_between<T>,
                first_fault<function_verdict<operation::clamp, T>, number_verdict<Least, T>, number_verdict<Most, T>>,
                T, A>;

}  // namespace detail

template <class T>
inline constexpr bool engine::detail::is_worth_width<detail::clamp_between<T>> = true;

template <class T, reduction Kind>
inline constexpr preservation preserves<detail::clamp_between<T>, Kind> = non_decreasing(Kind);

namespace operation {

struct clamp : detail::moves_nothing {
  static constexpr char const* name = "clamp";
  static constexpr auto defined = detail::defined_for::all_but_complex;

  template <class T>
    requires(detail::is_number<T> && detail::is_defined<T, defined>)
  KOKKOS_INLINE_FUNCTION T operator()(T const& x, T const& least, T const& most) const {
    return detail::clamp_between<T>{least, most}(x);
  }

  template <TensorOrVariable A, class Least, class Most>
    requires(detail::is_number<Least> && detail::is_number<Most>)
  [[nodiscard]] constexpr auto operator()(A const& a, Least const& least, Most const& most) const {
    return detail::operate(*this, a, least, most);
  }

  template <class A, class Least, class Most>
  using verdict = detail::clamp_verdict<typename A::value_type, A, Least, Most>;
  template <class How, class A, class Least, class Most>
  auto run(How const&, A const& a, Least const& least, Most const& most) const {
    using T = typename A::value_type;
    using between = detail::clamp_between<T>;
    between const f = detail::between_numbers<T>(least, most);
    if (f.most < f.least) throw_error("clamp: the lower bound is above the upper bound; give the lower bound first");
    return detail::run_map<detail::map_types<between, A>, T>(name, f, a);
  }
};

}  // namespace operation

/// x, clamped to two bounds: `os::clamp(A, low, high)`.
OSTRAKA_DETAIL_FUNCTION_OBJECT operation::clamp clamp{};

}  // namespace ostraka
