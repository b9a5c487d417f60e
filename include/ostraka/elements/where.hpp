// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::where(condition, A, B)`: A's element where the condition is true, B's elsewhere. Operands meet as in
/// os::map; either of A and B may be a number, or both. The result has A's axes first, then what B and the condition
/// have beyond them: os::where(mask, scores, −1e30) of mask[Q, K] and scores[B, H, Q, K] is [B, H, Q, K].

#include <type_traits>

#include <ostraka/elements/comparison.hpp>

namespace ostraka {

namespace detail {

struct choose {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b, bool condition) const noexcept {
    return condition ? a : b;
  }
};

template <class T>
struct choose_or_number {
  T number;
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, bool condition) const noexcept { return condition ? a : number; }
};

template <class T>
struct choose_number_or {
  T number;
  KOKKOS_INLINE_FUNCTION T operator()(T const& b, bool condition) const noexcept { return condition ? number : b; }
};

template <class T>
struct choose_numbers {
  T yes, no;
  KOKKOS_INLINE_FUNCTION T operator()(bool condition) const noexcept { return condition ? yes : no; }
};

template <class T>
consteval auto check_condition() {
  if constexpr (std::is_same_v<T, bool>)
    return found<reason::ok>{};
  else
    return found<reason::condition_of_numbers<T>>{};
}

template <class T>
using condition_verdict = typename decltype(check_condition<T>())::type;

// A number as one of the elements, if it can be.
template <class T, class Number>
T number_of_where(Number const& number) {
  if constexpr (is_number_among<Number, T>)
    return as_element<T>("where", number);
  else
    return {};
}

template <class C, class Unless, class R, class F, class... Operands>
auto run_where(F const& f, Operands const&... operands) {
  using verdict = first_fault<condition_verdict<typename C::value_type>, Unless>;
  return checked_map<operation::where, F, verdict, R>("where", f, operands...);
}

}  // namespace detail

/// A where the condition is true, B elsewhere; the condition is a tensor of bools.
template <Tensor C, class A, class B>
  requires((Tensor<A> || detail::is_number<A>) && (Tensor<B> || detail::is_number<B>))
[[nodiscard]] auto where(C const& condition, A const& a, B const& b) {
  using detail::number_of_where;
  if constexpr (Tensor<A> && Tensor<B>) {
    using value = typename A::value_type;
    return detail::run_where<C, detail::elements_verdict<A, B>, value>(detail::choose{}, a, b, condition);
  } else if constexpr (Tensor<A>) {
    using value = typename A::value_type;
    return detail::run_where<C, detail::number_verdict<B, value>, value>(
        detail::choose_or_number<value>{number_of_where<value>(b)}, a, condition);
  } else if constexpr (Tensor<B>) {
    using value = typename B::value_type;
    return detail::run_where<C, detail::number_verdict<A, value>, value>(
        detail::choose_number_or<value>{number_of_where<value>(a)}, b, condition);
  } else {
    using value = typename detail::element<std::remove_cvref_t<decltype(true ? a : b)>>::type;
    return detail::run_where<C, reason::ok, value>(
        detail::choose_numbers<value>{number_of_where<value>(a), number_of_where<value>(b)}, condition);
  }
}

}  // namespace ostraka
