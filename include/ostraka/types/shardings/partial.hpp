// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Partial tensors: along some mesh axes each device holds a part, and the tensor is the combination of the
/// parts. `os::partial(X)` is {U_X}, a sum; `os::partial_max(X)` is {max_X}, and so on for each reduction.

#include <type_traits>

#include <ostraka/types/axes/axis.hpp>
#include <ostraka/types/reasons.hpp>
#include <ostraka/types/support/type_list.hpp>
#include <ostraka/types/values/reduction.hpp>

namespace ostraka {

namespace detail {

struct partial_base {};

template <reduction Kind, MeshAxis... Ms>
struct partial_by : partial_base {
  static constexpr reduction kind = Kind;
  using mesh_axes = type_list<Ms...>;

  constexpr partial_by() {
    if constexpr (sizeof...(Ms) == 0) reason::raise<reason::partial_over_nothing<Ms...>>();
  }
};

}  // namespace detail

// A template and a function cannot share a name, so these calls are constructors: partial_max(X) is a
// partial_max<X_mesh>.

/// The tensor is the sum over `Ms` of the devices' parts. The value of `os::partial(X, Y)`.
template <MeshAxis... Ms>
struct partial_sum : detail::partial_by<reduction::sum, Ms...> {
  constexpr explicit partial_sum(Ms...) {}
};
template <MeshAxis... Ms>
partial_sum(Ms...) -> partial_sum<Ms...>;

/// The tensor is the maximum over `Ms` of the devices' parts.
template <MeshAxis... Ms>
struct partial_max : detail::partial_by<reduction::max, Ms...> {
  constexpr explicit partial_max(Ms...) {}
};
template <MeshAxis... Ms>
partial_max(Ms...) -> partial_max<Ms...>;

/// The tensor is the minimum over `Ms` of the devices' parts.
template <MeshAxis... Ms>
struct partial_min : detail::partial_by<reduction::min, Ms...> {
  constexpr explicit partial_min(Ms...) {}
};
template <MeshAxis... Ms>
partial_min(Ms...) -> partial_min<Ms...>;

/// The tensor is the product over `Ms` of the devices' parts.
template <MeshAxis... Ms>
struct partial_prod : detail::partial_by<reduction::prod, Ms...> {
  constexpr explicit partial_prod(Ms...) {}
};
template <MeshAxis... Ms>
partial_prod(Ms...) -> partial_prod<Ms...>;

/// The tensor is the bitwise AND over `Ms` of the devices' parts; for bools, true if all are true.
template <MeshAxis... Ms>
struct partial_and : detail::partial_by<reduction::bit_and, Ms...> {
  constexpr explicit partial_and(Ms...) {}
};
template <MeshAxis... Ms>
partial_and(Ms...) -> partial_and<Ms...>;

/// The tensor is the bitwise OR over `Ms` of the devices' parts; for bools, true if any is true.
template <MeshAxis... Ms>
struct partial_or : detail::partial_by<reduction::bit_or, Ms...> {
  constexpr explicit partial_or(Ms...) {}
};
template <MeshAxis... Ms>
partial_or(Ms...) -> partial_or<Ms...>;

/// Marks a tensor as the sum over the mesh axes of the devices' parts.
template <MeshAxis... Ms>
consteval partial_sum<Ms...> partial(Ms... axes) {
  return partial_sum<Ms...>(axes...);
}

/// One of the six types above.
template <class T>
concept Partial = std::is_base_of_v<detail::partial_base, T>;

namespace detail {

// The partial entry of a kind over these mesh axes.
template <reduction Kind, class MeshAxes>
struct partial_of;

template <class... Ms>
struct partial_of<reduction::sum, type_list<Ms...>> {
  using type = partial_sum<Ms...>;
};
template <class... Ms>
struct partial_of<reduction::max, type_list<Ms...>> {
  using type = partial_max<Ms...>;
};
template <class... Ms>
struct partial_of<reduction::min, type_list<Ms...>> {
  using type = partial_min<Ms...>;
};
template <class... Ms>
struct partial_of<reduction::prod, type_list<Ms...>> {
  using type = partial_prod<Ms...>;
};
template <class... Ms>
struct partial_of<reduction::bit_and, type_list<Ms...>> {
  using type = partial_and<Ms...>;
};
template <class... Ms>
struct partial_of<reduction::bit_or, type_list<Ms...>> {
  using type = partial_or<Ms...>;
};

// The mesh axes of a partial are a set, sorted by name.
template <class Sorted, class Unsorted>
struct sort_by_name {
  using type = Sorted;
};

template <class... Sorted, class M, class... Ms>
struct sort_by_name<type_list<Sorted...>, type_list<M, Ms...>>
    : sort_by_name<concatenation_of<std::conditional_t<(Sorted::name <= M::name), type_list<Sorted>, type_list<>>...,
                                    type_list<M>,
                                    std::conditional_t<(Sorted::name <= M::name), type_list<>, type_list<Sorted>>...>,
                   type_list<Ms...>> {};

// One entry for each kind among partial entries, in order of first appearance.
template <class Entries>
struct merge_partials {
  using type = type_list<>;
};

template <class P, class... Ps>
struct merge_partials<type_list<P, Ps...>> {
  using alike = concatenation_of<typename P::mesh_axes,
                                 std::conditional_t<(P::kind == Ps::kind), typename Ps::mesh_axes, type_list<>>...>;
  using others = concatenation_of<std::conditional_t<(P::kind == Ps::kind), type_list<>, type_list<Ps>>...>;
  using type =
      concatenation_of<type_list<typename partial_of<P::kind, typename sort_by_name<type_list<>, alike>::type>::type>,
                       typename merge_partials<others>::type>;
};

}  // namespace detail

}  // namespace ostraka
