// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The sharding of a tensor as a type: `I/X` is I_X, `I/X/Y` is I_XY (X major), `os::partial(X)` is {U_X}
/// (partial.hpp), `os::varying(X)` {V_X} (varying.hpp). All notations of a sharding lead to one canonical
/// `os::sharding<…>`, so that equal shardings are equal types.

#include <type_traits>

#include <ostraka/types/axes/axis.hpp>
#include <ostraka/types/reasons.hpp>
#include <ostraka/types/shardings/partial.hpp>
#include <ostraka/types/shardings/varying.hpp>
#include <ostraka/types/support/type_list.hpp>

namespace ostraka {

/// Axis `A` divided over the mesh axes `Ms`, the first one major. The value of `I/X/Y`.
template <Axis A, MeshAxis... Ms>
struct over {};

/// Entries in the order of the axes: an axis (not divided) or `over<axis, mesh…>`. Then at most one
/// `partial_sum<mesh…>`, `partial_max<mesh…>`, …. Last, in the sharding of a block, `varying<mesh…>`.
template <class... Entries>
struct sharding {};

/// Dimensions in place of a type: `os::plan_of<os::dims<I, K/Y>, A, B>`.
template <auto... Dims>
struct dims {};

namespace detail {

// The division that M / B was meant to be; an empty sharding if that is not clear.
template <class M, class B>
struct swapped_operands {
  using type = sharding<>;
};
template <MeshAxis M, Axis A>
struct swapped_operands<M, A> {
  using type = over<A, M>;
};
template <MeshAxis M, class A, class... Ms>
struct swapped_operands<M, over<A, Ms...>> {
  using type = over<A, Ms..., M>;
};

}  // namespace detail

template <Axis A, MeshAxis M>
consteval over<A, M> operator/(A, M) {
  return {};
}

template <Axis A, MeshAxis... Ms, MeshAxis M>
consteval over<A, Ms..., M> operator/(over<A, Ms...>, M) {
  return {};
}

/// Does not compile: an axis is divided over a mesh axis, never by another axis or a number.
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

/// Does not compile: the axis comes first, I / X.
template <MeshAxis M, class B>
consteval typename detail::swapped_operands<M, B>::type operator/(M, B) {
  reason::raise<reason::axis_comes_first<M, B>>();
  return {};
}

/// Does not compile: a number cannot be divided; a local variable probably hides the axis.
template <std::integral N, MeshAxis M>
constexpr N operator/(N n, M) {
  reason::raise<reason::number_is_not_divided<N, M>>();
  return n;
}

namespace detail {

// The contents of one entry. Unknown entries count as dimensions, so that the check below can name them.
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

template <Partial P>
struct entry<P> {
  static constexpr bool is_known = true;
  using canonical = type_list<>;
  using axes = type_list<>;
  using splits = type_list<>;
  using partials = type_list<P>;
};

template <Varying V>
struct entry<V> {
  static constexpr bool is_known = true;
  using canonical = type_list<>;
  using axes = type_list<>;
  using splits = type_list<>;
  using partials = type_list<>;
};

// The mesh axes along which an entry says that a block varies.
template <class Entry>
struct varying_in_entry {
  using type = type_list<>;
};
template <class... Ms>
struct varying_in_entry<varying<Ms...>> {
  using type = type_list<Ms...>;
};
template <class... Entries>
struct varying_in_entry<sharding<Entries...>> {
  using type = concatenation_of<typename varying_in_entry<Entries>::type...>;
};

// A whole sharding among the dimensions expands to its own dimensions: `R(batch, hidden)` of os::rules.
template <class... Entries>
struct entry<sharding<Entries...>> {
  static constexpr bool is_known = (entry<Entries>::is_known && ...);
  using canonical = concatenation_of<typename entry<Entries>::canonical...>;
  using axes = concatenation_of<typename entry<Entries>::axes...>;
  using splits = concatenation_of<typename entry<Entries>::splits...>;
  using partials = concatenation_of<typename entry<Entries>::partials...>;
};

template <class Dimensions, class Partials, class Varying>
struct assemble;

template <class... Dimensions, class... Partials, class... Varying>
struct assemble<type_list<Dimensions...>, type_list<Partials...>, type_list<Varying...>> {
  using type = sharding<Dimensions..., Partials..., Varying...>;
};

template <class... Entries>
using canonical_sharding =
    typename assemble<concatenation_of<typename entry<Entries>::canonical...>,
                      typename merge_partials<concatenation_of<typename entry<Entries>::partials...>>::type,
                      varying_entry<union_of<typename varying_in_entry<Entries>::type...>>>::type;

}  // namespace detail

/// The canonical sharding that `Dims` name.
template <auto... Dims>
using sharding_of = detail::canonical_sharding<detail::type_of<Dims>...>;

namespace detail {

template <class... Verdicts>
struct find_fault {
  using type = reason::ok;
};

template <class Verdict, class... Verdicts>
struct find_fault<Verdict, Verdicts...> {
  using type = Verdict;
};

template <class... Verdicts>
struct find_fault<reason::ok, Verdicts...> : find_fault<Verdicts...> {};

// The first of several verdicts that is a reason; `reason::ok` if none is.
template <class... Verdicts>
using first_fault = typename find_fault<Verdicts...>::type;

template <class... Entries>
struct find_unknown {
  using type = void;
};

template <class E, class... Entries>
struct find_unknown<E, Entries...> {
  using type = typename std::conditional_t<entry<E>::is_known, find_unknown<Entries...>, std::type_identity<E>>::type;
};

// The mesh axes of partial entries, in order.
template <class Partials>
struct axes_of_partials;

template <class... Ps>
struct axes_of_partials<type_list<Ps...>> {
  using type = concatenation_of<typename Ps::mesh_axes...>;
};

// The uses of a mesh axis in a sharding, one for each: the axis that it divides, or the entry that is partial over it
// or varies along it.
template <class M, class Entry, class Splits = typename entry<Entry>::splits,
          class Others = concatenation_of<typename axes_of_partials<typename entry<Entry>::partials>::type,
                                          typename varying_in_entry<Entry>::type>>
struct uses_in_entry;

template <class M, class Entry, class... Splits, class... Others>
struct uses_in_entry<M, Entry, type_list<Splits...>, type_list<Others...>> {
  using type =
      concatenation_of<std::conditional_t<std::is_same_v<M, Splits>, typename entry<Entry>::axes, type_list<>>...,
                       std::conditional_t<std::is_same_v<M, Others>, type_list<Entry>, type_list<>>...>;
};

template <class M, class Uses>
struct used_twice;

template <class M, class First, class Second, class... More>
struct used_twice<M, type_list<First, Second, More...>> {
  using type = reason::mesh_axis_used_twice<M, First, Second>;
};

template <class M, class Sharding>
struct explain_used_twice;

template <class M, class... Entries>
struct explain_used_twice<M, sharding<Entries...>>
    : used_twice<M, concatenation_of<typename uses_in_entry<M, Entries>::type...>> {};

template <class Partials>
struct explain_two_kinds;

template <class First, class Second, class... More>
struct explain_two_kinds<type_list<First, Second, More...>> {
  using type = reason::partial_in_two_ways<First, Second>;
};

// True if an entry divides a padded axis. Such an axis belongs to a block, which is not divided further.
template <class Entry>
inline constexpr bool divides_halo_in = false;
template <class A, int Before, int Behind, class M, class... Ms>
inline constexpr bool divides_halo_in<over<halo_axis<A, Before, Behind>, M, Ms...>> = true;
template <class Sharding>
inline constexpr bool divides_halo = false;
template <class... Entries>
inline constexpr bool divides_halo<sharding<Entries...>> = (divides_halo_in<Entries> || ...);

template <class Sharding>
struct explain_divided_halo;
template <class Entry, class... Entries>
struct explain_divided_halo<sharding<Entry, Entries...>> : explain_divided_halo<sharding<Entries...>> {};
template <class A, int Before, int Behind, class M, class... Ms, class... Entries>
struct explain_divided_halo<sharding<over<halo_axis<A, Before, Behind>, M, Ms...>, Entries...>> {
  using type = reason::halo_is_divided<halo_axis<A, Before, Behind>, M, Ms...>;
};

template <class Sharding, class Axes, class MeshAxes, class Partials, class Unknown>
consteval auto check_sharding() {
  if constexpr (!std::is_void_v<Unknown>)
    return found<reason::not_a_dimension<Unknown>>{};
  else if constexpr (!std::is_void_v<first_repeated<Axes>>)
    return found<reason::axis_used_twice<first_repeated<Axes>>>{};
  else if constexpr (!std::is_void_v<first_repeated<MeshAxes>>)
    return found<typename explain_used_twice<first_repeated<MeshAxes>, Sharding>::type>{};
  else if constexpr (Partials::size > 1)
    return found<typename explain_two_kinds<Partials>::type>{};
  else if constexpr (Axes::size > max_rank)
    return found<reason::too_many_axes<Axes::size>>{};
  else if constexpr (divides_halo<Sharding>)
    return found<typename explain_divided_halo<Sharding>::type>{};
  else
    return found<reason::ok>{};
}

}  // namespace detail

/// The contents of a sharding, as lists of types.
template <class Sharding>
struct sharding_traits;

template <class... Entries>
struct sharding_traits<sharding<Entries...>> {
  using axes = concatenation_of<typename detail::entry<Entries>::axes...>;          ///< in order
  using splits = concatenation_of<typename detail::entry<Entries>::splits...>;      ///< mesh axes that divide an axis
  using partial_entries =
      concatenation_of<typename detail::entry<Entries>::partials...>;  ///< `type_list<partial_max<X_mesh>>`; a valid
                                                                       ///< sharding has at most one
  using partials = typename detail::axes_of_partials<partial_entries>::type;  ///< mesh axes that hold parts
  using mesh_axes = concatenation_of<splits, partials>;
  using varying =
      concatenation_of<typename detail::varying_in_entry<Entries>::type...>;  ///< only in blocks; plans ignore them
  static constexpr int rank = axes::size;

  /// `reason::ok`, or the reason why the sharding is wrong by itself.
  using verdict = typename decltype(detail::check_sharding<sharding<Entries...>, axes,
                                                           concatenation_of<mesh_axes, varying>, partial_entries,
                                                           typename detail::find_unknown<Entries...>::type>())::type;
};

/// True if the sharding is valid by itself: no axis twice, no mesh axis twice.
template <class Sharding>
inline constexpr bool is_valid_sharding = std::is_same_v<typename sharding_traits<Sharding>::verdict, reason::ok>;

}  // namespace ostraka
