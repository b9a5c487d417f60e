// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Between types and values: shardings become specs with labels and mesh axes numbered, and specs that a
/// planner found become shardings again. Planners and engine know numbers only, never names.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <ostraka/plan/spec/spec.hpp>
#include <ostraka/types/axes/sizes.hpp>
#include <ostraka/types/shardings/sharding.hpp>

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

// One entry in numbers: its label and the mesh axes that divide it, or the mesh axes over which the tensor is partial.
struct entry_numbers {
  int label = -1;
  planner::mesh_order order{};
  planner::mesh_set partial{};
  reduction kind = reduction::sum;
};

// Builds a list of mesh axes by number, minor ones first: X % (Y % none) is X, then Y.
struct minor_axes {
  std::uint32_t code = 0;
  friend constexpr minor_axes operator%(int axis, minor_axes minor) {
    return {static_cast<std::uint32_t>(axis + 1) | minor.code << 4};
  }
};

template <class Labels, class Mesh, class Entry>
inline constexpr entry_numbers numbers_of{};

template <class Labels, class Mesh, Axis A>
inline constexpr entry_numbers numbers_of<Labels, Mesh, A>{position_in<A, Labels>, {}, {}, reduction::sum};

template <class Labels, class Mesh, Axis A, MeshAxis... Ms>
inline constexpr entry_numbers numbers_of<Labels, Mesh, over<A, Ms...>>{
    position_in<A, Labels>, {(position_in<Ms, Mesh> % ... % minor_axes{}).code}, {}, reduction::sum};

template <class Mesh, class... Ms>
constexpr planner::mesh_set mesh_axes_numbered(type_list<Ms...>) {
  return {(std::uint32_t{0} | ... | (std::uint32_t{1} << position_in<Ms, Mesh>))};
}

template <class Labels, class Mesh, Partial P>
inline constexpr entry_numbers numbers_of<Labels, Mesh, P>{
    -1, {}, mesh_axes_numbered<Mesh>(typename P::mesh_axes{}), P::kind};

constexpr void add_entry(planner::spec& s, entry_numbers const& e) {
  if (e.label >= 0) return s.push_back(e.label, e.order);
  if (e.partial.empty()) return;  // a varying entry; plans ignore it
  s.partial = s.partial | e.partial;
  s.kind = e.kind;
}

template <class Labels, class Mesh, class... Entries>
constexpr planner::spec to_spec(sharding<Entries...>) {
  planner::spec s;
  (add_entry(s, numbers_of<Labels, Mesh, Entries>), ...);
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
struct from_spec {
  template <int Dim, int... Ks>
  static auto dimension(std::integer_sequence<int, Ks...>)
      -> over<typename type_at<Labels, S.label[Dim]>::type, typename type_at<Mesh, S.over[Dim][Ks]>::type...>;

  // A sharding among the dimensions expands to its own dimensions; sharding<> has none.
  template <int M>
  using if_partial =
      std::conditional_t<S.partial.contains(M),
                         sharding<typename partial_of<S.kind, type_list<typename type_at<Mesh, M>::type>>::type>,
                         sharding<>>;

  template <int... Dims, int... Ms>
  static auto all(std::integer_sequence<int, Dims...>, std::integer_sequence<int, Ms...>)
      -> canonical_sharding<decltype(dimension<Dims>(std::make_integer_sequence<int, S.over[Dims].size()>{}))...,
                            if_partial<Ms>...>;

  using type = decltype(all(std::make_integer_sequence<int, S.rank>{}, std::make_integer_sequence<int, Mesh::size>{}));
};

// An array of names, with one extra element, because there may be no names.
template <int Count>
struct name_list {
  std::string_view name[Count + 1];

  [[nodiscard]] constexpr std::string_view const* data() const { return name; }
  [[nodiscard]] constexpr std::string_view operator[](std::size_t i) const { return name[i]; }
};

template <class List>
inline constexpr name_list<0> names_of{};
template <class... Named>
inline constexpr name_list<static_cast<int>(sizeof...(Named))> names_of<type_list<Named...>>{{Named::name..., {}}};

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
    return 1;  // the caller may divide by it
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

/// The sharding of a tensor type; of a sharding, itself.
template <class T>
using sharding_in = typename detail::sharding_inside<T>::type;

/// The axes, and the mesh axes, of a tensor type or sharding.
template <class T>
using axes_in = typename sharding_traits<sharding_in<T>>::axes;
template <class T>
using mesh_axes_in = typename sharding_traits<sharding_in<T>>::mesh_axes;

/// The mesh axes along which a block varies; none if it is not a block.
template <class T>
using varying_in = typename sharding_traits<sharding_in<T>>::varying;

/// The spec of a sharding, with labels numbered by `Labels` and mesh axes by `Mesh`.
template <class T, class Labels, class Mesh>
inline constexpr planner::spec spec_of = detail::to_spec<Labels, Mesh>(sharding_in<T>{});

/// The sharding that a spec represents.
template <planner::spec S, class Labels, class Mesh>
using sharding_from = typename detail::from_spec<S, Labels, Mesh>::type;

}  // namespace ostraka
