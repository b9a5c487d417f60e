// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Halos: in the body of os::shard_map a block may also hold its neighbours' indices of an axis, before and
/// after its own. The padded axis is an axis of its own, `os::halo<I, 1>` in place of I: `float[I(1), J] {V_X}`. Its
/// extent is the padded block's, so code without knowledge of halos still computes memory correctly, and it never
/// matches I by mistake.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <ostraka/types/axes/axis.hpp>
#include <ostraka/types/reasons.hpp>
#include <ostraka/types/shardings/sharding.hpp>

namespace ostraka {

namespace detail {

// `I(1)`, or `I(1,2)` of a halo that is wider at one end
template <class A, int Before, int Behind>
struct halo_name {
  static constexpr int digits(int n) {
    int count = 1;
    for (; n >= 10; n /= 10) ++count;
    return count;
  }
  static constexpr std::size_t length =
      A::name.size() + 2 + static_cast<std::size_t>(digits(Before) + (Before == Behind ? 0 : 1 + digits(Behind)));
  char text[length]{};

  constexpr halo_name() {
    std::size_t at = 0;
    for (char c : A::name) text[at++] = c;
    text[at++] = '(';
    write(at, Before);
    if (Before != Behind) {
      text[at++] = ',';
      write(at, Behind);
    }
    text[at] = ')';
  }

 private:
  constexpr void write(std::size_t& at, int n) {
    int const count = digits(n);
    for (int d = count; d-- > 0; n /= 10) text[at + static_cast<std::size_t>(d)] = static_cast<char>('0' + n % 10);
    at += static_cast<std::size_t>(count);
  }
};

template <class A, int Before, int Behind>
inline constexpr halo_name<A, Before, Behind> halo_name_of{};

}  // namespace detail

/// The axis A of a block with `Before` additional indices before its own and `Behind` after them. The value of
/// `os::halo<A, Before, Behind>`.
template <class A, int Before, int Behind>
struct halo_axis : detail::axis_base {
  using own = A;
  static constexpr int before = Before, behind = Behind;
  static constexpr std::string_view name{detail::halo_name_of<A, Before, Behind>.text,
                                         detail::halo_name<A, Before, Behind>::length};
  static constexpr std::int64_t extent = dynamic_extent;
  static constexpr std::int64_t planned_extent =
      A::planned_extent < 0 ? dynamic_extent : A::planned_extent + Before + Behind;
};

namespace detail {

template <class A>
inline constexpr bool is_halo = false;
template <class A, int Before, int Behind>
inline constexpr bool is_halo<halo_axis<A, Before, Behind>> = true;

template <class A, int Before, int Behind>
consteval auto check_halo() {
  constexpr int widest = Before > Behind ? Before : Behind, least = Before < Behind ? Before : Behind;
  if constexpr (!Axis<A> || is_halo<A>)
    return found<reason::not_a_halo_axis<A>>{};
  else if constexpr (least < 0 || widest < 1)
    return found<reason::halo_without_width<A, least>>{};
  else if constexpr (A::extent != dynamic_extent && widest > A::extent)
    return found<reason::halo_wider_than_the_axis<A, widest, static_cast<long long>(A::extent)>>{};
  else
    return found<reason::ok>{};
}

template <class A, int Before, int Behind>
consteval auto make_halo() {
  if constexpr (reason::ok_or_raise<typename decltype(check_halo<A, Before, Behind>())::type>())
    return halo_axis<A, Before, Behind>{};
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
template <class A, int Before, int Behind, class... Rest>
struct halo_of<A, type_list<halo_axis<A, Before, Behind>, Rest...>> {
  using type = halo_axis<A, Before, Behind>;
};

// The numbers of neighbours' indices that a block has before and after its own.
struct halo_margins {
  int before = 0, behind = 0;

  [[nodiscard]] constexpr int both() const { return before + behind; }
  [[nodiscard]] constexpr int widest() const { return before > behind ? before : behind; }
};

// The axis under a padded one, and the widths of the padding; for an unpadded axis, the axis itself and widths of 0.
template <class A>
struct unpadded_axis {
  using type = A;
  static constexpr halo_margins margins{};
};
template <class A, int Before, int Behind>
struct unpadded_axis<halo_axis<A, Before, Behind>> {
  using type = A;
  static constexpr halo_margins margins{Before, Behind};
};

template <class Entry>
struct unpadded_entry {
  using type = typename unpadded_axis<Entry>::type;
};
template <class A, class... Ms>
struct unpadded_entry<over<A, Ms...>> {
  using type = over<typename unpadded_axis<A>::type, Ms...>;
};

template <class Sharding>
struct without_halos;
template <class... Entries>
struct without_halos<sharding<Entries...>> {
  using type = sharding<typename unpadded_entry<Entries>::type...>;
};

// `names_ghosts`: true for the dimensions of an array with ghost layers. They include `os::halo<I, 1>/X` or
// `os::halo<I, 1>`, and are not those of a block, which has an os::varying.
template <class Entry>
inline constexpr bool names_halo = is_halo<Entry>;
template <class A, class... Ms>
inline constexpr bool names_halo<over<A, Ms...>> = is_halo<A>;
template <class Entry>
inline constexpr bool names_varying = false;
template <class... Ms>
inline constexpr bool names_varying<varying<Ms...>> = true;
template <auto... Dims>
inline constexpr bool names_ghosts = (names_halo<type_of<Dims>> || ...) && !(names_varying<type_of<Dims>> || ...);

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
template <class A, int Before, int Behind, class... Rest>
struct first_halo<halo_axis<A, Before, Behind>, Rest...> {
  using type = halo_axis<A, Before, Behind>;
};
template <class... As, class... Rest>
struct first_halo<type_list<As...>, Rest...> : first_halo<As..., Rest...> {};

}  // namespace detail

/// The axis `A` of a block, padded by `Before` neighbouring indices before its own and `Behind` after them, by default
/// the same number: `os::halo<I, 1>`, `os::halo<I, 2, 1>`, and 0 for none at one end. `os::halo<I, 1>/X` also says that
/// the neighbours are the devices along X.
template <auto A, int Before, int Behind = Before>
inline constexpr auto halo = detail::make_halo<detail::type_of<A>, Before, Behind>();

/// The sharding of the block's own part, with the axes under the padded ones.
template <class Sharding>
using sharding_without_halos = typename detail::without_halos<Sharding>::type;

}  // namespace ostraka
