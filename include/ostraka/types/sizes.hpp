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
class sizes {
 public:
  using names = type_list<Named...>;

  constexpr sizes(named_extent<Named>... extents) : values_{extents.value...} {
    using twice = first_repeated<names>;
    if constexpr (!std::is_void_v<twice>) reason::raise<reason::extent_given_twice<twice>>();
  }

  /// The extent of an axis that is among the names.
  template <class Name>
  [[nodiscard]] constexpr std::int64_t of(Name = {}) const {
    static_assert(is_one_of<Name, Named...>);
    return values_[position_in<Name, names>];
  }

 private:
  std::int64_t values_[sizeof...(Named) + 1];  // one more, because there may be no names
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
  return join(sizes<As..., Bs...>(named_extent<As>(As{}, a.template of<As>())..., named_extent<Bs>(Bs{}, b.template of<Bs>())...), more...);
}

}  // namespace detail

/// Named extents and os::sizes, in any mixture, as one os::sizes.
template <class... Given>
[[nodiscard]] constexpr auto collect_sizes(Given const&... given) {
  return detail::join(sizes<>(), detail::as_sizes(given)...);
}

}  // namespace ostraka
