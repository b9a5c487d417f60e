// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::all_gather<X>(A)`: A[I_X, J] → A[I, J], (n−1)/n of the gathered block received by each device.

#include <ostraka/detail/verb.hpp>

namespace ostraka {

namespace detail {

template <class A, class... Ms>
consteval auto plan_all_gather() {
  using types = verb_types<A>;
  using stranger = typename first_without<splits_of<A>::template contains, Ms...>::type;
  if constexpr (!std::is_void_v<stranger>) {
    return type_list<reason::all_gather_needs_a_split<stranger, sharding_in<A>>, void>{};
  } else {
    constexpr planner::spec to = without(types::from, set_of<types, Ms...>);
    if constexpr (!only_minor_ends(types::from, to))
      return type_list<
          reason::all_gather_is_not_from_the_minor_end<typename type_at<type_list<Ms...>, 0>::type, sharding_in<A>>,
          void>{};
    else
      return type_list<reason::ok, typename types::template target<to>>{};
  }
}

}  // namespace detail

namespace verb {

/// The type of os::all_gather<X>.
template <class... Ms>
struct all_gather : detail::verb_base {
  template <Tensor A>
  [[nodiscard]] auto operator()(A const& a) const {
    using found = decltype(detail::plan_all_gather<A, Ms...>());
    return detail::run_verb<step::all_gather, typename detail::type_at<found, 0>::type,
                            typename detail::type_at<found, 1>::type>(a);
  }
};

}  // namespace verb

/// The tensor replicated along the mesh axes `Ms`, each of which divides it at the minor end of an axis. Collective
/// over `Ms`.
template <auto... Ms>
inline constexpr verb::all_gather<detail::type_of<Ms>...> all_gather{};

}  // namespace ostraka
