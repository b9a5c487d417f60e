// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::all_reduce<X>(A)`: A[I] {U_X} → A[I], 2(n−1)/n of the block moved per device.

#include <ostraka/detail/verb.hpp>

namespace ostraka {

namespace detail {

template <class A, class... Ms>
consteval auto plan_all_reduce() {
  using types = verb_types<A>;
  using stranger = typename first_without<partials_of<A>::template contains, Ms...>::type;
  if constexpr (!std::is_void_v<stranger>)
    return type_list<reason::all_reduce_needs_a_partial<stranger, sharding_in<A>>, void>{};
  else
    return type_list<reason::ok, typename types::template target<without(types::from, set_of<types, Ms...>)>>{};
}

}  // namespace detail

namespace verb {

/// The type of os::all_reduce<X>.
template <class... Ms>
struct all_reduce : detail::verb_base {
  template <Tensor A>
  [[nodiscard]] auto operator()(A const& a) const {
    using found = decltype(detail::plan_all_reduce<A, Ms...>());
    return detail::run_verb<step::all_reduce, typename detail::type_at<found, 0>::type,
                            typename detail::type_at<found, 1>::type>(a);
  }
};

}  // namespace verb

/// What the parts along the mesh axes `Ms`, over all of which the tensor is partial, combine to: a sum, a maximum, … by
/// its kind; the same bits on every device. Collective over `Ms`.
template <auto... Ms>
inline constexpr verb::all_reduce<detail::type_of<Ms>...> all_reduce{};

}  // namespace ostraka
