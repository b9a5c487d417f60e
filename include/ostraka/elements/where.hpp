// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::where(condition, A, B)`: A's element where the condition is true, B's elsewhere. Operands are matched
/// as in os::map; A, B or both may be numbers. The result has A's axes first, then the further axes of B and the
/// condition: os::where(mask, scores, −1e30) of mask[Q, K] and scores[B, H, Q, K] is [B, H, Q, K].

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

// The number as an element, if it can be one.
template <class T, class Number>
T number_of_where(Number const& number) {
  if constexpr (is_number_among<Number, T>)
    return as_element<T>("where", number);
  else
    return {};
}

// The call's function, and its operands in the order in which the function takes them.
template <class C, class A, class B>
struct where_call;

template <class C, class Unless, class R, class F, class... Operands>
struct where_of {
  using verdict = map_verdict<operation::where, F, first_fault<condition_verdict<typename C::value_type>, Unless>, R,
                              Operands...>;
  using refused =
      after_error_of<R, typename undivided<union_of<axes_in<Operands>...>>::type, typename C::space>;
  static auto run(F const& f, Operands const&... operands) {
    return run_map<map_types<F, Operands...>, R>("where", f, operands...);
  }
};

template <class C, Tensor A, Tensor B>
struct where_call<C, A, B> : where_of<C, elements_verdict<A, B>, typename A::value_type, choose, A, B, C> {
  static auto of(C const& condition, A const& a, B const& b) {
    return where_call::run(choose{}, a, b, condition);
  }
};

template <class C, Tensor A, class B>
  requires is_number<B>
struct where_call<C, A, B> : where_of<C, number_verdict<B, typename A::value_type>, typename A::value_type,
                                      choose_or_number<typename A::value_type>, A, C> {
  static auto of(C const& condition, A const& a, B const& b) {
    return where_call::run({as_element<typename A::value_type>("where", b)}, a, condition);
  }
};

template <class C, class A, Tensor B>
  requires is_number<A>
struct where_call<C, A, B> : where_of<C, number_verdict<A, typename B::value_type>, typename B::value_type,
                                      choose_number_or<typename B::value_type>, B, C> {
  static auto of(C const& condition, A const& a, B const& b) {
    return where_call::run({as_element<typename B::value_type>("where", a)}, b, condition);
  }
};

template <class A, class B>
using number_of_both =
    typename element<std::remove_cvref_t<decltype(true ? std::declval<A const&>() : std::declval<B const&>())>>::type;

template <class C, class A, class B>
  requires(is_number<A> && is_number<B>)
struct where_call<C, A, B>
    : where_of<C, reason::ok, number_of_both<A, B>, choose_numbers<number_of_both<A, B>>, C> {
  using T = number_of_both<A, B>;
  static auto of(C const& condition, A const& a, B const& b) {
    return where_call::run({number_of_where<T>(a), number_of_where<T>(b)}, condition);
  }
};

}  // namespace detail

namespace operation {

struct where : detail::moves_nothing {
  static constexpr char const* name = "where";
  template <class C, class A, class B>
  using verdict = typename detail::where_call<C, A, B>::verdict;
  template <class C, class A, class B>
  using refused = typename detail::where_call<C, A, B>::refused;
  template <class How, class C, class A, class B>
  auto run(How const&, C const& condition, A const& a, B const& b) const {
    return detail::where_call<C, A, B>::of(condition, a, b);
  }
};

}  // namespace operation

/// A where the condition is true, B elsewhere; the condition is a tensor of bools.
template <TensorOrVariable C, class A, class B>
  requires((TensorOrVariable<A> || detail::is_number<A>) && (TensorOrVariable<B> || detail::is_number<B>))
[[nodiscard]] constexpr auto where(C const& condition, A const& a, B const& b) {
  return detail::operate(operation::where{}, condition, a, b);
}

}  // namespace ostraka
