// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::slice<I/X>(A)`: A[I] → A[I_X]; each device keeps its part, nothing moves.

#include <ostraka/detail/verb.hpp>

namespace ostraka {

namespace detail {

template <class A, class Entry>
struct plan_slice {
  using type = type_list<reason::not_a_divided_axis<Entry>, void>;
};

template <class A, class I, class... Ms>
consteval auto find_slice() {
  using types = verb_types<A, Ms...>;
  using stranger = typename first_without<unused_by<A>::template contains, Ms...>::type;
  if constexpr (position_in<I, axes_in<A>> < 0) {
    return type_list<reason::axis_missing<I, sharding_in<A>>, void>{};
  } else if constexpr (!std::is_void_v<stranger>) {
    return type_list<reason::slice_needs_a_replicated_axis<stranger, sharding_in<A>>, void>{};
  } else {
    return type_list<reason::ok, typename types::template target<appended<types, I, Ms...>(
                                     without(types::from, set_of<types, Ms...>))>>{};
  }
}

template <class A, class I, class... Ms>
struct plan_slice<A, over<I, Ms...>> {
  using type = decltype(find_slice<A, I, Ms...>());
};

}  // namespace detail

namespace verb {

/// The type of os::slice<I/X>.
template <class Dim>
struct slice : detail::verb_base {
  template <Tensor A>
  [[nodiscard]] auto operator()(A const& a) const {
    using found = typename detail::plan_slice<A, Dim>::type;
    return detail::run_verb<step::slice, typename detail::type_at<found, 0>::type,
                            typename detail::type_at<found, 1>::type>(a);
  }
};

}  // namespace verb

/// Divides an axis over mesh axes along which the tensor is replicated. Moves nothing between devices; copies the part
/// that is kept.
template <auto Dim>
inline constexpr verb::slice<detail::type_of<Dim>> slice{};

}  // namespace ostraka
