// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Several named extents in one object: `os::sizes(I = 1024, J = 512, X = 2)`.

#include <cstdint>
#include <type_traits>

#include <ostraka/types/axis.hpp>
#include <ostraka/types/reasons.hpp>
#include <ostraka/types/type_list.hpp>

namespace ostraka {

/// Extents of axes and sizes of mesh axes by name, in any order.
template <class... Named>
struct sizes : named_extent<Named>... {
  using names = type_list<Named...>;

  constexpr sizes(named_extent<Named>... extents) : named_extent<Named>(extents)... {}

  /// The extent of an axis that is among the names.
  template <class Name>
  [[nodiscard]] constexpr std::int64_t of(Name = {}) const {
    static_assert(is_one_of<Name, Named...>);
    return static_cast<named_extent<Name> const&>(*this).value;
  }
};

template <class... Named>
sizes(named_extent<Named>...) -> sizes<Named...>;

/// The extent of `Name`: the static one, or the given one. @pre one of the two is there.
template <class Name, class... Named>
[[nodiscard]] constexpr std::int64_t extent_in(sizes<Named...> const& given) {
  if constexpr (is_one_of<Name, Named...>)
    return given.template of<Name>();
  else
    return Name::extent;
}

namespace detail {

template <class... Named>
constexpr sizes<Named...> as_sizes(sizes<Named...> const& s) {
  return s;
}

template <class Named>
constexpr sizes<Named> as_sizes(named_extent<Named> const& e) {
  return {e};
}

template <class... As>
constexpr auto join(sizes<As...> const& a) {
  return a;
}

template <class... As, class... Bs, class... More>
constexpr auto join(sizes<As...> const& a, sizes<Bs...> const& b, More const&... more) {
  using twice = first_repeated<type_list<As..., Bs...>>;
  if constexpr (!std::is_void_v<twice>) {
    reason::raise<reason::extent_given_twice<twice>>();
    return a;
  } else {
    return join(sizes<As..., Bs...>(static_cast<named_extent<As> const&>(a)..., static_cast<named_extent<Bs> const&>(b)...), more...);
  }
}

}  // namespace detail

/// Named extents and os::sizes, in any mixture, as one os::sizes.
template <class... Given>
[[nodiscard]] constexpr auto collect_sizes(Given const&... given) {
  return detail::join(sizes<>(), detail::as_sizes(given)...);
}

}  // namespace ostraka
