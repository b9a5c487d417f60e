// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Halos: in the body of os::shard_map a block may hold, before and behind its own indices of an axis, those
/// of its neighbours. The padded axis is an axis of its own, `os::halo<I, 1>` in place of I: `float[I(1), J] {V_X}`.
/// Its extent is that of the padded block, so code that knows nothing of halos still computes memory right, and it
/// never matches I by mistake.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <ostraka/types/axes/axis.hpp>
#include <ostraka/types/reasons.hpp>
#include <ostraka/types/shardings/sharding.hpp>

namespace ostraka {

namespace detail {

// `I(1)`
template <class A, int Width>
struct halo_name {
  static constexpr int digits = [] {
    int n = 1;
    for (int rest = Width; rest >= 10; rest /= 10) ++n;
    return n;
  }();
  static constexpr std::size_t length = A::name.size() + 2 + static_cast<std::size_t>(digits);
  char text[length]{};

  constexpr halo_name() {
    std::size_t at = 0;
    for (char c : A::name) text[at++] = c;
    text[at] = '(';
    int rest = Width;
    for (int d = digits; d > 0; --d, rest /= 10)
      text[at + static_cast<std::size_t>(d)] = static_cast<char>('0' + rest % 10);
    text[length - 1] = ')';
  }
};

template <class A, int Width>
inline constexpr halo_name<A, Width> halo_name_of{};

}  // namespace detail

/// The axis A of a block with `Width` more indices at either end. The value of `os::halo<A, Width>`.
template <class A, int Width>
struct halo_axis : detail::axis_base {
  using own = A;
  static constexpr int width = Width;
  static constexpr std::string_view name{detail::halo_name_of<A, Width>.text, detail::halo_name<A, Width>::length};
  static constexpr std::int64_t extent = dynamic_extent;
  static constexpr std::int64_t planned_extent = A::planned_extent < 0 ? dynamic_extent : A::planned_extent + 2 * Width;
};

namespace detail {

template <class A>
inline constexpr bool is_halo = false;
template <class A, int Width>
inline constexpr bool is_halo<halo_axis<A, Width>> = true;

template <class A, int Width>
consteval auto check_halo() {
  if constexpr (!Axis<A> || is_halo<A>)
    return found<reason::halo_is_of_an_axis<A>>{};
  else if constexpr (Width < 1)
    return found<reason::halo_without_width<A, Width>>{};
  else if constexpr (A::extent != dynamic_extent && Width > A::extent)
    return found<reason::halo_wider_than_the_axis<A, Width, static_cast<long long>(A::extent)>>{};
  else
    return found<reason::ok>{};
}

template <class A, int Width>
consteval auto make_halo() {
  if constexpr (reason::ok_or_raise<typename decltype(check_halo<A, Width>())::type>())
    return halo_axis<A, Width>{};
  else
    return sharding<>{};
}

// The padded axis of A among `Axes`; void if there is none.
template <class A, class Axes>
struct halo_of;
template <class A>
struct halo_of<A, type_list<>> {
  using type = void;
};
template <class A, class First, class... Rest>
struct halo_of<A, type_list<First, Rest...>> : halo_of<A, type_list<Rest...>> {};
template <class A, int Width, class... Rest>
struct halo_of<A, type_list<halo_axis<A, Width>, Rest...>> {
  using type = halo_axis<A, Width>;
};

// The axis under a padded one, and the width of the padding; an unpadded axis is its own, with width 0.
template <class A>
struct own_axis {
  using type = A;
  static constexpr int width = 0;
};
template <class A, int Width>
struct own_axis<halo_axis<A, Width>> {
  using type = A;
  static constexpr int width = Width;
};

template <class Sharding>
struct without_halos;
template <class... Entries>
struct without_halos<sharding<Entries...>> {
  using type = sharding<typename own_axis<Entries>::type...>;
};

template <class Axes>
inline constexpr int padded_axes = 0;
template <class... As>
inline constexpr int padded_axes<type_list<As...>> = (0 + ... + (is_halo<As> ? 1 : 0));

// The first padded axis among some axes.
template <class... As>
struct first_halo {
  using type = void;
};
template <class First, class... Rest>
struct first_halo<First, Rest...> : first_halo<Rest...> {};
template <class A, int Width, class... Rest>
struct first_halo<halo_axis<A, Width>, Rest...> {
  using type = halo_axis<A, Width>;
};
template <class... As, class... Rest>
struct first_halo<type_list<As...>, Rest...> : first_halo<As..., Rest...> {};

}  // namespace detail

/// The axis `A` of a block, padded by `Width` neighbours at either end. `os::halo<I, 1>/X` says that the neighbours are
/// the devices along X.
template <auto A, int Width>
inline constexpr auto halo = detail::make_halo<detail::type_of<A>, Width>();

/// The sharding of the block's own part, which replaces the padded one.
template <class Sharding>
using sharding_without_halos = typename detail::without_halos<Sharding>::type;

}  // namespace ostraka
