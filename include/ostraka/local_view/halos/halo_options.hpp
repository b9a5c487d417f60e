// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The arguments of os::exchange_halo and their checks: the axes to pad in its angle brackets, and the options
/// after the block: rings, values beyond the ends, and whether corners are left out.

#include <type_traits>

#include <ostraka/calls/numbers.hpp>
#include <ostraka/local_view/collectives/collective.hpp>
#include <ostraka/types/shardings/halo.hpp>

namespace ostraka {

/// Option of os::exchange_halo, after the block: these axes are rings. The first index follows the last.
template <Axis... As>
struct periodic_axes {};

/// All padded axes are rings; with `os::periodic(I, J)` only these.
struct periodic_everywhere {
  template <Axis... As>
  consteval periodic_axes<As...> operator()(As...) const {
    return {};
  }
};
inline constexpr periodic_everywhere periodic{};

/// Option of os::exchange_halo, after the block: exchanges only the faces of the block, in fewer messages. Corners, the
/// margins along two axes at once, get the values beyond the ends. Use it for stencils that read along one axis at a
/// time.
struct faces_only {};
inline constexpr faces_only faces{};

/// `os::boundary = 2.5`: the value beyond the ends of a new padded block.
template <class Number>
struct boundary_value {
  Number value;
};
struct boundary_name {
  template <class Number>
  constexpr boundary_value<Number> operator=(Number const& n) const {
    return {n};
  }
};
inline constexpr boundary_name boundary{};

namespace detail {

// The halo of `os::halo<I, 1>/X`.
template <class Dim>
struct halo_argument {
  static constexpr bool is_one = false;
  using padded = void;
  using axis = void;
  using mesh_axes = type_list<>;
};
template <class A, int Before, int Behind>
struct halo_argument<halo_axis<A, Before, Behind>> {
  static constexpr bool is_one = true;
  using padded = halo_axis<A, Before, Behind>;
  using axis = A;
  using mesh_axes = type_list<>;
};
template <class A, int Before, int Behind, class... Ms>
struct halo_argument<over<halo_axis<A, Before, Behind>, Ms...>> : halo_argument<halo_axis<A, Before, Behind>> {
  using mesh_axes = type_list<Ms...>;
};

template <class Entry, class... Dim>
struct padded_entry {
  using type = Entry;
};
template <class A, class First, class... Rest>
struct padded_entry<A, First, Rest...>
    : std::conditional_t<std::is_same_v<A, typename halo_argument<First>::axis>,
                         std::type_identity<typename halo_argument<First>::padded>, padded_entry<A, Rest...>> {};

template <class Entry, class... Dim>
struct bare_entry {
  using type = Entry;
};
template <class A, int Before, int Behind, class... Dim>
struct bare_entry<halo_axis<A, Before, Behind>, Dim...> {
  using type = std::conditional_t<is_one_of<A, typename halo_argument<Dim>::axis...>, A, halo_axis<A, Before, Behind>>;
};

template <class Sharding, class... Dim>
struct bare_sharding;
template <class... Entries, class... Dim>
struct bare_sharding<sharding<Entries...>, Dim...> {
  using type = sharding<typename bare_entry<Entries, Dim...>::type...>;
};

// The sharding without the halos of the axes that `Dim` names.
template <class Sharding, class... Dim>
using sharding_without_halos_along = typename bare_sharding<Sharding, Dim...>::type;

template <class Sharding, class... Dim>
struct padded_sharding;
template <class... Entries, class... Dim>
struct padded_sharding<sharding<Entries...>, Dim...> {
  using type = sharding<typename padded_entry<Entries, Dim...>::type...>;
};

// The sharding of the tensor that a block is part of: each named axis is divided over its mesh axes.
template <class Sharding, class... Dim>
struct lifted_halo {
  using type = Sharding;
};
template <class Sharding, class A, int Before, int Behind, class... Ms, class... Rest>
struct lifted_halo<Sharding, over<halo_axis<A, Before, Behind>, Ms...>, Rest...>
    : lifted_halo<typename lift_axis<Sharding, A, Ms...>::type, Rest...> {};
template <class Sharding, class A, int Before, int Behind, class... Rest>
struct lifted_halo<Sharding, halo_axis<A, Before, Behind>, Rest...> : lifted_halo<Sharding, Rest...> {};

template <class A, class Sharding>
inline constexpr bool is_whole_entry = false;
template <class A, class... Entries>
inline constexpr bool is_whole_entry<A, sharding<Entries...>> = is_one_of<A, Entries...>;

template <class Block, class Dim>
consteval auto check_halo_argument() {
  using argument = halo_argument<Dim>;
  using A = typename argument::axis;
  if constexpr (!argument::is_one)
    return found<reason::not_a_halo<Dim>>{};
  else if constexpr (position_in<A, axes_in<Block>> < 0)
    return found<reason::axis_missing<A, sharding_in<Block>>>{};
  else if constexpr (!is_whole_entry<A, sharding_in<Block>>)
    return found<reason::halo_of_a_divided_axis<A, sharding_in<Block>>>{};
  else
    return []<class... Ms>(type_list<Ms...>) {
      return found<varies_verdict<Block, Ms...>>{};
    }(typename argument::mesh_axes{});
}

template <class T, class Option>
struct halo_option {
  using verdict = reason::not_a_halo_option<Option>;
};
template <class T>
struct halo_option<T, periodic_everywhere> {
  using verdict = reason::ok;
};
template <class T, class... As>
struct halo_option<T, periodic_axes<As...>> {
  using verdict = reason::ok;
};
template <class T>
struct halo_option<T, faces_only> {
  using verdict = reason::ok;
};
template <class T, class Number>
struct halo_option<T, boundary_value<Number>> {
  using verdict = number_verdict<Number, T>;
};

template <class A, class Option>
inline constexpr bool is_ring = std::is_same_v<Option, periodic_everywhere>;
template <class A, class... As>
inline constexpr bool is_ring<A, periodic_axes<As...>> = is_one_of<A, As...>;

template <class T, class... Options>
T boundary_among(char const* operation, Options const&... options) {
  T value{};
  [[maybe_unused]] auto const take = [&]<class Option>(Option const& o) {
    if constexpr (requires { o.value; }) value = as_element<T>(operation, o.value);
  };
  (take(options), ...);
  return value;
}

}  // namespace detail

}  // namespace ostraka
