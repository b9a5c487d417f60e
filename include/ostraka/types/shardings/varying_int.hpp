// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. A number that differs from device to device, with a type that says so.

#include <compare>
#include <concepts>
#include <cstdint>

#include <ostraka/types/shardings/partial.hpp>
#include <ostraka/types/shardings/varying.hpp>

namespace ostraka {

/// A whole number that differs along `Ms`: os::axis_index returns one, and arithmetic with it returns others. A block
/// that is cut or made with it also varies. `%` is never negative: (i − 1) % n is the previous device, also for device
/// 0. i.value() returns a plain number, whose type no longer says that it varies. All that depends on it, branches
/// included, may then differ from device to device, but all devices must call the same collectives.
template <MeshAxis... Ms>
class varying_int {
 public:
  using mesh_axes = type_list<Ms...>;  ///< the mesh axes along which it differs
  constexpr explicit varying_int(std::int64_t value) : value_(value) {}
  /// This device's number.
  [[nodiscard]] constexpr std::int64_t value() const { return value_; }
  /// The negative number, which also varies.
  [[nodiscard]] constexpr varying_int operator-() const { return varying_int(-value_); }

  /// Refused: the reason says that value() returns the plain number.
  template <std::integral N>
  constexpr explicit operator N() const {
    reason::raise<reason::varying_number_used_implicitly<varying_int>>();
    return static_cast<N>(value_);
  }

 private:
  std::int64_t value_;
};

namespace detail {

template <class T>
inline constexpr bool is_varying_int = false;
template <class... Ms>
inline constexpr bool is_varying_int<varying_int<Ms...>> = true;

template <class... Ms>
constexpr std::int64_t plain_number(varying_int<Ms...> i) {
  return i.value();
}
template <std::integral N>
constexpr std::int64_t plain_number(N n) {
  return static_cast<std::int64_t>(n);
}

template <class T>
struct number_varies {
  using type = type_list<>;
};
template <class... Ms>
struct number_varies<varying_int<Ms...>> {
  using type = type_list<Ms...>;
};

template <class MeshAxes>
struct varying_int_over;
template <class... Ms>
struct varying_int_over<type_list<Ms...>> {
  using type = varying_int<Ms...>;
};

template <class A, class B>
using combined_int = typename varying_int_over<typename sort_by_name<
    type_list<>, union_of<typename number_varies<A>::type, typename number_varies<B>::type>>::type>::type;

template <class A, class B>
concept VaryingOperands = (is_varying_int<A> && (is_varying_int<B> || std::integral<B>)) ||
                          (std::integral<A> && is_varying_int<B>);

}  // namespace detail

template <class A, class B>
  requires detail::VaryingOperands<A, B>
[[nodiscard]] constexpr auto operator+(A a, B b) {
  return detail::combined_int<A, B>(detail::plain_number(a) + detail::plain_number(b));
}
template <class A, class B>
  requires detail::VaryingOperands<A, B>
[[nodiscard]] constexpr auto operator-(A a, B b) {
  return detail::combined_int<A, B>(detail::plain_number(a) - detail::plain_number(b));
}
template <class A, class B>
  requires detail::VaryingOperands<A, B>
[[nodiscard]] constexpr auto operator*(A a, B b) {
  return detail::combined_int<A, B>(detail::plain_number(a) * detail::plain_number(b));
}
/// Rounds down, because `%` is never negative.
template <class A, class B>
  requires detail::VaryingOperands<A, B>
[[nodiscard]] constexpr auto operator/(A a, B b) {
  std::int64_t const n = detail::plain_number(a), d = detail::plain_number(b);
  return detail::combined_int<A, B>(n / d - (n % d != 0 && (n < 0) != (d < 0) ? 1 : 0));
}
template <class A, class B>
  requires detail::VaryingOperands<A, B>
[[nodiscard]] constexpr auto operator%(A a, B b) {
  std::int64_t const n = detail::plain_number(a), d = detail::plain_number(b);
  return detail::combined_int<A, B>((n % d + d) % d);
}
/// Refused: the reason says to compare plain numbers, which value() returns.
template <class A, class B>
  requires detail::VaryingOperands<A, B>
constexpr bool operator==(A a, B b) {
  reason::raise<reason::varying_number_used_implicitly<detail::combined_int<A, B>>>();
  return detail::plain_number(a) == detail::plain_number(b);
}
template <class A, class B>
  requires detail::VaryingOperands<A, B>
constexpr auto operator<=>(A a, B b) {
  reason::raise<reason::varying_number_used_implicitly<detail::combined_int<A, B>>>();
  return detail::plain_number(a) <=> detail::plain_number(b);
}

}  // namespace ostraka
