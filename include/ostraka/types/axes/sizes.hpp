// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Several named extents in one object: `os::sizes(I = 1024, J = 512, X = 2)`.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/types/axes/axis.hpp>
#include <ostraka/types/reasons.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/type_list.hpp>

namespace ostraka {

/// Extents of axes and sizes of mesh axes by name, in any order.
template <class... Named>
class sizes {
 public:
  using names = type_list<Named...>;  ///< the list of the names

  constexpr sizes(named_extent<Named>... extents) : values_{extents.value...} {
    using twice = first_repeated<names>;
    if constexpr (!std::is_void_v<twice>) reason::raise<reason::extent_given_twice<twice>>();
  }

  /// The extent of an axis among the names.
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

/// The extent of `Name`: its static extent, or the given one.
/// @pre one of the two exists
template <class Name, class... Named>
[[nodiscard]] constexpr std::int64_t extent_in(sizes<Named...> const& given) {
  if constexpr (is_one_of<Name, Named...>)
    return given.template of<Name>();
  else
    return Name::extent;
}

namespace detail {

template <class T>
inline constexpr bool is_named_extent = false;
template <class Named>
inline constexpr bool is_named_extent<named_extent<Named>> = true;
template <class Named, class Extent>
inline constexpr bool is_named_extent<named_own_extent<Named, Extent>> = true;

// Collects the extents that are written out among the arguments; skips other arguments.
template <class... Named>
constexpr sizes<Named...> named_extents_in(sizes<Named...> const& picked) {
  return picked;
}

template <class... Named, class Next, class... More>
constexpr auto named_extents_in(sizes<Named...> const& picked, Next const& next, More const&... more) {
  if constexpr (is_named_extent<Next>)
    return named_extents_in(sizes(named_extent<Named>(Named{}, picked.template of<Named>())..., next), more...);
  else
    return named_extents_in(picked, more...);
}

// The extents of a collection: os::sizes, a tensor, a mesh.
template <class... Named>
constexpr sizes<Named...> collection(sizes<Named...> const& s) {
  return s;
}

template <class T>
  requires requires(T const& t) { typename decltype(t.sizes())::names; }
constexpr auto collection(T const& tensor_or_mesh) {
  return tensor_or_mesh.sizes();
}

template <class T>
concept knows_extents = requires(T const& t) { collection(t); };

template <class T>
constexpr auto collection_in(T const& given) {
  if constexpr (knows_extents<T>) {
    return collection(given);
  } else {
    if constexpr (!is_named_extent<T>) reason::raise<reason::extent_without_a_name<T>>();
    return sizes<>();
  }
}

[[noreturn, gnu::cold, gnu::noinline]] inline void extents_disagree(std::string_view name, std::int64_t one,
                                                                    std::int64_t other) {
  throw_error("sizes: an extent is one number, but ", name, " is ", one, " in one place and ", other,
              " in another; name tensors and sizes that go together");
}

template <class Name, class... As, class... Bs>
constexpr std::int64_t agreed_extent(sizes<As...> const& a, sizes<Bs...> const& b) {
  if constexpr (!is_one_of<Name, Bs...>) {
    return a.template of<Name>();
  } else {
    if constexpr (is_one_of<Name, As...>)
      if (a.template of<Name>() != b.template of<Name>())
        extents_disagree(Name::name, a.template of<Name>(), b.template of<Name>());
    return b.template of<Name>();
  }
}

template <class... Names, class A, class B>
constexpr sizes<Names...> merge_two(type_list<Names...>, A const& a, B const& b) {
  return {named_extent<Names>(Names{}, agreed_extent<Names>(a, b))...};
}

template <class A>
constexpr A agree(A const& a) {
  return a;
}

template <class A, class B, class... More>
constexpr auto agree(A const& a, B const& b, More const&... more) {
  return agree(merge_two(union_of<typename A::names, typename B::names>{}, a, b), more...);
}

template <class... As, class... Bs>
constexpr auto join(sizes<As...> const& a, sizes<Bs...> const& b) {
  return sizes<As..., Bs...>(named_extent<As>(As{}, a.template of<As>())...,
                             named_extent<Bs>(Bs{}, b.template of<Bs>())...);
}

}  // namespace detail

/// Collects named extents, os::sizes, tensors and meshes, in any mixture, into one os::sizes. Each extent is written
/// out at most once. Collections may share names, and must then agree.
/// @throws ostraka::error if two collections disagree (in a constant expression, the result is then not a constant)
template <class... Given>
[[nodiscard, gnu::cold]] constexpr auto collect_sizes(Given const&... given) {
  return detail::join(detail::named_extents_in(sizes<>(), given...),
                      detail::agree(sizes<>(), detail::collection_in(given)...));
}

}  // namespace ostraka
