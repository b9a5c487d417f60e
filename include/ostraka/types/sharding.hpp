// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The sharding of a tensor as a type: `I/X` is I_X, `I/X/Y` is I_XY (X major), `os::partial(X)` is {U_X}.
/// Every way to write a sharding comes to one canonical `os::sharding<…>`, so that equal shardings are equal types.

#include <type_traits>

#include <ostraka/types/axis.hpp>
#include <ostraka/types/reasons.hpp>
#include <ostraka/types/type_list.hpp>

namespace ostraka {

/// Axis `A` divided over the mesh axes `Ms`, the first one major. The value of `I/X/Y`.
template <Axis A, MeshAxis... Ms>
struct over {};

/// Every device along `Ms` holds a summand of the tensor. The value of `os::partial(X, Y)`.
template <MeshAxis... Ms>
struct partial_sum {};

/// Entries in the order of the axes: an axis (not divided), `over<axis, mesh…>`, and last at most one `partial_sum<mesh…>`.
template <class... Entries>
struct sharding {};

/// Dimensions where a type is asked for: `os::plan_of<os::dims<I/X, K/Y>, A, B>`.
template <auto... Dims>
struct dims {};

template <Axis A, MeshAxis M>
consteval over<A, M> operator/(A, M) {
  return {};
}

template <Axis A, MeshAxis... Ms, MeshAxis M>
consteval over<A, Ms..., M> operator/(over<A, Ms...>, M) {
  return {};
}

/// An axis is divided over a mesh axis, never by another axis or a number.
template <Axis A, class B>
consteval over<A> operator/(A, B) {
  reason::raise<reason::not_a_mesh_axis<A, B>>();
  return {};
}

template <Axis A, MeshAxis... Ms, class B>
  requires(!MeshAxis<B>)
consteval over<A, Ms...> operator/(over<A, Ms...>, B) {
  reason::raise<reason::not_a_mesh_axis<A, B>>();
  return {};
}

/// The tensor is the sum over the mesh axes of what their devices hold.
template <MeshAxis... Ms>
consteval partial_sum<Ms...> partial(Ms...) {
  if constexpr (sizeof...(Ms) == 0) reason::raise<reason::partial_over_nothing<Ms...>>();
  return {};
}

namespace detail {

// What one entry says. Strangers are kept as dimensions, so that the check below can name them.
template <class Entry>
struct entry {
  static constexpr bool is_known = false;
  using canonical = type_list<Entry>;
  using axes = type_list<>;
  using splits = type_list<>;
  using partials = type_list<>;
};

template <Axis A>
struct entry<A> {
  static constexpr bool is_known = true;
  using canonical = type_list<A>;
  using axes = type_list<A>;
  using splits = type_list<>;
  using partials = type_list<>;
};

template <Axis A, MeshAxis... Ms>
struct entry<over<A, Ms...>> {
  static constexpr bool is_known = true;
  using canonical = type_list<std::conditional_t<sizeof...(Ms) == 0, A, over<A, Ms...>>>;
  using axes = type_list<A>;
  using splits = type_list<Ms...>;
  using partials = type_list<>;
};

template <MeshAxis... Ms>
struct entry<partial_sum<Ms...>> {
  static constexpr bool is_known = true;
  using canonical = type_list<>;
  using axes = type_list<>;
  using splits = type_list<>;
  using partials = type_list<Ms...>;
};

// The mesh axes of a partial are a set: sorted by name.
template <class Sorted, class Unsorted>
struct sort_by_name {
  using type = Sorted;
};

template <class... Sorted, class M, class... Ms>
struct sort_by_name<type_list<Sorted...>, type_list<M, Ms...>>
    : sort_by_name<concatenation_of<std::conditional_t<(Sorted::name <= M::name), type_list<Sorted>, type_list<>>..., type_list<M>,
                                    std::conditional_t<(Sorted::name <= M::name), type_list<>, type_list<Sorted>>...>,
                   type_list<Ms...>> {};

template <class Dimensions, class Partials>
struct assemble;

template <class... Dimensions>
struct assemble<type_list<Dimensions...>, type_list<>> {
  using type = sharding<Dimensions...>;
};

template <class... Dimensions, class... Ms>
struct assemble<type_list<Dimensions...>, type_list<Ms...>> {
  using type = sharding<Dimensions..., partial_sum<Ms...>>;
};

template <class... Entries>
using canonical_sharding = typename assemble<concatenation_of<typename entry<Entries>::canonical...>,
                                             typename sort_by_name<type_list<>, concatenation_of<typename entry<Entries>::partials...>>::type>::type;

}  // namespace detail

/// The canonical sharding that `Dims` name. (cvref: nvcc hands on such a value as an expression, of which decltype is a reference.)
template <auto... Dims>
using sharding_of = detail::canonical_sharding<std::remove_cvref_t<decltype(Dims)>...>;

namespace detail {

template <class... Entries>
struct find_stranger {
  using type = void;
};

template <class E, class... Entries>
struct find_stranger<E, Entries...> {
  using type = typename std::conditional_t<entry<E>::is_known, find_stranger<Entries...>, std::type_identity<E>>::type;
};

template <class Sharding, class Axes, class MeshAxes, class Stranger>
consteval auto check_sharding() {
  if constexpr (!std::is_void_v<Stranger>)
    return std::type_identity<reason::not_a_dimension<Stranger>>{};
  else if constexpr (!std::is_void_v<first_repeated<Axes>>)
    return std::type_identity<reason::axis_used_twice<first_repeated<Axes>>>{};
  else if constexpr (!std::is_void_v<first_repeated<MeshAxes>>)
    return std::type_identity<reason::mesh_axis_used_twice<first_repeated<MeshAxes>, Sharding>>{};
  else if constexpr (Axes::size > max_rank)
    return std::type_identity<reason::too_many_axes<Axes::size>>{};
  else
    return std::type_identity<reason::ok>{};
}

}  // namespace detail

/// What a sharding says, as lists of types.
template <class Sharding>
struct sharding_traits;

template <class... Entries>
struct sharding_traits<sharding<Entries...>> {
  using axes = concatenation_of<typename detail::entry<Entries>::axes...>;          ///< in order
  using splits = concatenation_of<typename detail::entry<Entries>::splits...>;      ///< mesh axes that divide an axis
  using partials = concatenation_of<typename detail::entry<Entries>::partials...>;  ///< mesh axes that hold summands
  using mesh_axes = concatenation_of<splits, partials>;
  static constexpr int rank = axes::size;

  /// `reason::ok`, or what is wrong with the sharding by itself.
  using verdict = typename decltype(detail::check_sharding<sharding<Entries...>, axes, mesh_axes,
                                                           typename detail::find_stranger<Entries...>::type>())::type;
};

/// Is the sharding valid by itself: no axis twice, no mesh axis twice?
template <class Sharding>
inline constexpr bool is_valid_sharding = std::is_same_v<typename sharding_traits<Sharding>::verdict, reason::ok>;

}  // namespace ostraka
