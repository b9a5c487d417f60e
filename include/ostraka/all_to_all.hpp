// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::all_to_all<J/X>(A)`: A[I_X, J] → A[I, J_X], (n−1)/n² of the gathered block received by each device.

#include <ostraka/detail/verb.hpp>

namespace ostraka {

namespace detail {

template <class A, class Entry>
struct plan_all_to_all {
  using type = type_list<reason::not_a_divided_axis<Entry>, void>;
};

template <class A, class I, class... Ms>
consteval auto find_all_to_all() {
  using types = verb_types<A, Ms...>;
  using stranger = typename first_without<splits_of<A>::template contains, Ms...>::type;
  if constexpr (position_in<I, axes_in<A>> < 0) {
    return type_list<reason::axis_missing<I, sharding_in<A>>, void>{};
  } else if constexpr (!std::is_void_v<stranger>) {
    return type_list<reason::all_to_all_needs_a_split_elsewhere<stranger, sharding_in<A>>, void>{};
  } else {
    constexpr planner::spec rest = without(types::from, set_of<types, Ms...>);
    if constexpr (!only_minor_ends(types::from, rest) ||
                  (rest.over[position_in<I, axes_in<A>>] != types::from.over[position_in<I, axes_in<A>>]))
      return type_list<
          reason::all_to_all_needs_a_split_elsewhere<typename type_at<type_list<Ms...>, 0>::type, sharding_in<A>>,
          void>{};
    else
      return type_list<reason::ok, typename types::template target<appended<types, I, Ms...>(rest)>>{};
  }
}

template <class A, class I, class... Ms>
struct plan_all_to_all<A, over<I, Ms...>> {
  using type = decltype(find_all_to_all<A, I, Ms...>());
};

}  // namespace detail

namespace verb {

/// The type of os::all_to_all<I/X>.
template <class Dim>
struct all_to_all : detail::verb_base {
  template <Tensor A>
  [[nodiscard]] auto operator()(A const& a) const {
    using found = typename detail::plan_all_to_all<A, Dim>::type;
    return detail::run_verb<step::all_to_all, typename detail::type_at<found, 0>::type,
                            typename detail::type_at<found, 1>::type>(a);
  }
};

}  // namespace verb

/// Moves mesh axes from the minor end of other axes to the minor end of the named one. Collective over these mesh axes.
template <auto Dim>
inline constexpr verb::all_to_all<detail::type_of<Dim>> all_to_all{};

}  // namespace ostraka
