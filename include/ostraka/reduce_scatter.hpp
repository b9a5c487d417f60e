// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::reduce_scatter<I/X>(A)`: A[I] {U_X} → A[I_X], (n−1)/n of the block sent by each device.

#include <ostraka/detail/verb.hpp>

namespace ostraka {

namespace detail {

template <class A, class Entry>
struct plan_reduce_scatter {
  using type = type_list<reason::not_a_divided_axis<Entry>, void>;
};

template <class A, class I, class... Ms>
consteval auto find_reduce_scatter() {
  using types = verb_types<A, Ms...>;
  using stranger = typename first_without<partials_of<A>::template contains, Ms...>::type;
  if constexpr (position_in<I, axes_in<A>> < 0) {
    return type_list<reason::axis_missing<I, sharding_in<A>>, void>{};
  } else if constexpr (!std::is_void_v<stranger>) {
    return type_list<reason::reduce_scatter_needs_a_partial<stranger, sharding_in<A>>, void>{};
  } else {
    return type_list<reason::ok, typename types::template target<appended<types, I, Ms...>(
                                     without(types::from, set_of<types, Ms...>))>>{};
  }
}

template <class A, class I, class... Ms>
struct plan_reduce_scatter<A, over<I, Ms...>> {
  using type = decltype(find_reduce_scatter<A, I, Ms...>());
};

}  // namespace detail

namespace verb {

/// The type of os::reduce_scatter<I/X>.
template <class Dim>
struct reduce_scatter : detail::verb_base {
  template <Tensor A>
  [[nodiscard]] auto operator()(A const& a) const {
    using found = typename detail::plan_reduce_scatter<A, Dim>::type;
    return detail::run_verb<step::reduce_scatter, typename detail::type_at<found, 0>::type,
                            typename detail::type_at<found, 1>::type>(a);
  }
};

}  // namespace verb

/// What the parts along the mesh axes of `Dim`, over all of which the tensor is partial, combine to, divided over them
/// at the minor end of the axis. `I/X/Y` scatters over X and Y at once. Collective over these mesh axes.
template <auto Dim>
inline constexpr verb::reduce_scatter<detail::type_of<Dim>> reduce_scatter{};

}  // namespace ostraka
