// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Shardings made from others: without an axis, with another entry in its place, with entries before or
/// after.
///
///     without_axis<[I_X, J], I>              [J]
///     with_entry<[I_X, J], I, K_X>           [K_X, J]
///     with_entries_last<[I_X, J], K>         [I_X, J, K]
///     without_parts<[I_X] {U_Y}>             [I_X]

#include <type_traits>

#include <ostraka/types/shardings/sharding.hpp>

namespace ostraka::detail {

// The sharding with the one entry of an axis replaced by other entries: none, one or several.
template <class Sharding, class Axis, class... Others>
struct replace_entry;

template <class... Entries, class Axis, class... Others>
struct replace_entry<sharding<Entries...>, Axis, Others...> {
  template <class E>
  static constexpr bool is_its = std::is_same_v<typename entry<E>::axes, type_list<Axis>>;
  using type = canonical_sharding<std::conditional_t<is_its<Entries>, sharding<Others...>, Entries>...>;
};

template <class Sharding, class Axis>
using without_axis = typename replace_entry<Sharding, Axis>::type;

// The sharding without several axes.
template <class Sharding, class Axes>
struct remove_axes {
  using type = Sharding;
};
template <class Sharding, class Axis, class... More>
struct remove_axes<Sharding, type_list<Axis, More...>> : remove_axes<without_axis<Sharding, Axis>, type_list<More...>> {
};
template <class Sharding, class Axes>
using without_axes = typename remove_axes<Sharding, Axes>::type;

template <class Sharding, class Axis, class... Others>
using with_entry = typename replace_entry<Sharding, Axis, Others...>::type;

template <class Sharding, class... Others>
using with_entries_last = canonical_sharding<Sharding, Others...>;

// The entries of a sharding whose axes are in a list.
template <class Sharding, class Axes>
struct entries_of;
template <class... Entries, class Axes>
struct entries_of<sharding<Entries...>, Axes> {
  template <class E>
  static constexpr bool is_in = difference_of<typename entry<E>::axes, Axes>::size < entry<E>::axes::size;
  using type = canonical_sharding<std::conditional_t<is_in<Entries>, sharding<Entries>, sharding<>>...>;
};

// The mesh axes that divide an axis, in order.
template <class Axis, class Sharding>
struct find_splits;

template <class Axis, class... Entries>
struct find_splits<Axis, sharding<Entries...>> {
  using type = concatenation_of<std::conditional_t<std::is_same_v<typename entry<Entries>::axes, type_list<Axis>>,
                                                   typename entry<Entries>::splits, type_list<>>...>;
};

template <class Axis, class Sharding>
using splits_of = typename find_splits<Axis, Sharding>::type;

template <class Entry>
struct without_parts_entry {
  using type = Entry;
};
template <Partial P>
struct without_parts_entry<P> {
  using type = sharding<>;
};

/// A sharding without its parts: the sharding of the value that they add up to.
template <class Sharding>
struct without_parts;
template <class... Entries>
struct without_parts<sharding<Entries...>> {
  using type = canonical_sharding<typename without_parts_entry<Entries>::type...>;
};

}  // namespace ostraka::detail
