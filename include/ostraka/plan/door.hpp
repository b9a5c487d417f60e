// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The door between types and values: shardings become specs with labels and mesh axes numbered, and specs that a
/// planner found become shardings again. Behind it nobody knows a name.

#include <array>
#include <string_view>
#include <utility>

#include <ostraka/plan/spec.hpp>
#include <ostraka/types/sharding.hpp>
#include <ostraka/types/sizes.hpp>

namespace ostraka {

namespace detail {

template <class T>
struct sharding_inside {
  using type = typename T::sharding_type;
};

template <class... Entries>
struct sharding_inside<sharding<Entries...>> {
  using type = sharding<Entries...>;
};

template <class Labels, class Mesh, Axis A>
constexpr void enter(planner::spec& s, std::type_identity<A>) {
  s.push_back(position_in<A, Labels>);
}

template <class Labels, class Mesh, Axis A, MeshAxis... Ms>
constexpr void enter(planner::spec& s, std::type_identity<over<A, Ms...>>) {
  planner::mesh_order o;
  (o.push_back(position_in<Ms, Mesh>), ...);
  s.push_back(position_in<A, Labels>, o);
}

template <class Mesh, class... Ms>
constexpr void enter_partial(planner::spec& s, type_list<Ms...>) {
  (s.partial.insert(position_in<Ms, Mesh>), ...);
}

template <class Labels, class Mesh, Partial P>
constexpr void enter(planner::spec& s, std::type_identity<P>) {
  enter_partial<Mesh>(s, typename P::mesh_axes{});
  s.kind = P::kind;
}

template <class Labels, class Mesh, class... Entries>
constexpr planner::spec enter_all(sharding<Entries...>) {
  planner::spec s;
  (enter<Labels, Mesh>(s, std::type_identity<Entries>{}), ...);
  return s;
}

template <int I, class T, class... Ts>
struct nth : nth<I - 1, Ts...> {};

template <class T, class... Ts>
struct nth<0, T, Ts...> {
  using type = T;
};

template <class List, int I>
struct type_at;

template <class... Ts, int I>
struct type_at<type_list<Ts...>, I> : nth<I, Ts...> {};

// The types behind a spec's numbers.
template <planner::spec S, class Labels, class Mesh>
struct leave {
  template <int Dim, int... Ks>
  static auto dimension(std::integer_sequence<int, Ks...>)
      -> over<typename type_at<Labels, S.label[Dim]>::type, typename type_at<Mesh, S.over[Dim][Ks]>::type...>;

  // A sharding among the dimensions stands for its own, which of sharding<> is none.
  template <int M>
  using if_partial =
      std::conditional_t<S.partial.contains(M), sharding<typename partial_of<S.kind, type_list<typename type_at<Mesh, M>::type>>::type>, sharding<>>;

  template <int... Dims, int... Ms>
  static auto all(std::integer_sequence<int, Dims...>, std::integer_sequence<int, Ms...>)
      -> canonical_sharding<decltype(dimension<Dims>(std::make_integer_sequence<int, S.over[Dims].size()>{}))..., if_partial<Ms>...>;

  using type = decltype(all(std::make_integer_sequence<int, S.rank>{}, std::make_integer_sequence<int, Mesh::size>{}));
};

template <class... Named>
consteval auto names(type_list<Named...>) {
  return std::array<std::string_view, sizeof...(Named)>{Named::name...};
}

template <class List>
inline constexpr auto names_of = names(List{});

/// Extents and sizes as far as types tell, by a hint or for sure; dynamic_extent for the others.
template <class... Axes, class... Ms>
consteval planner::extents planned_sizes(type_list<Axes...>, type_list<Ms...>) {
  planner::extents e;
  ((e.label[e.labels++] = Axes::planned_extent), ...);
  ((e.mesh[e.mesh_axes++] = Ms::planned_extent), ...);
  return e;
}

template <class Name, class... Named>
constexpr std::int64_t required_extent(sizes<Named...> const& given) {
  if constexpr (Name::extent == dynamic_extent && !is_one_of<Name, Named...>) {
    reason::raise<reason::missing_extent<Name>>();
    return 1;  // what follows may divide by it
  } else {
    return extent_in<Name>(given);
  }
}

template <class... Axes, class... Ms, class Sizes>
constexpr planner::extents extents_from(type_list<Axes...>, type_list<Ms...>, Sizes const& given) {
  planner::extents e;
  ((e.label[e.labels++] = required_extent<Axes>(given)), ...);
  ((e.mesh[e.mesh_axes++] = required_extent<Ms>(given)), ...);
  return e;
}

}  // namespace detail

/// The sharding of a tensor type; a sharding is its own.
template <class T>
using sharding_in = typename detail::sharding_inside<T>::type;

/// The axes, and the mesh axes, of a tensor type or sharding.
template <class T>
using axes_in = typename sharding_traits<sharding_in<T>>::axes;
template <class T>
using mesh_axes_in = typename sharding_traits<sharding_in<T>>::mesh_axes;

/// The value of a sharding, with labels numbered by `Labels` and mesh axes by `Mesh`.
template <class T, class Labels, class Mesh>
inline constexpr planner::spec spec_of = detail::enter_all<Labels, Mesh>(sharding_in<T>{});

/// The sharding that a value stands for.
template <planner::spec S, class Labels, class Mesh>
using sharding_from = typename detail::leave<S, Labels, Mesh>::type;

}  // namespace ostraka
