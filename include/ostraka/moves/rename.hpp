// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::rename<J, K>(A)`: A[I, J_X] → A[I, K_X], free. Queries and keys are two names of one axis.

#include <ostraka/calls/operate.hpp>
#include <ostraka/tensors/after_error.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace detail {

template <class From, class To, class Entry>
struct rename_entry {
  using type = Entry;
};

template <class From, class To>
struct rename_entry<From, To, From> {
  using type = To;
};

template <class From, class To, class... Ms>
struct rename_entry<From, To, over<From, Ms...>> {
  using type = over<To, Ms...>;
};

template <class From, class To, class Sharding>
struct rename_sharding;

template <class From, class To, class... Entries>
struct rename_sharding<From, To, sharding<Entries...>> {
  using type = sharding<typename rename_entry<From, To, Entries>::type...>;
};

// True if types allow one axis in place of the other.
template <class One, class Other>
inline constexpr bool extents_agree =
    One::extent == dynamic_extent || Other::extent == dynamic_extent || One::extent == Other::extent;

template <class From, class To, class Axes>
consteval auto check_rename() {
  if constexpr (position_in<From, Axes> < 0)
    return found<reason::renamed_axis_missing<From>>{};
  else if constexpr (!std::is_same_v<From, To> && position_in<To, Axes> >= 0)
    return found<reason::renamed_axis_collides<To>>{};
  else if constexpr (!extents_agree<From, To>)
    return found<reason::static_extent_mismatch<From, To>>{};
  else
    return found<reason::ok>{};
}

template <class From, class To, class Axes>
using rename_verdict = typename decltype(check_rename<From, To, Axes>())::type;

}  // namespace detail

namespace operation {

template <class From, class To>
struct rename : detail::moves_nothing {
  using result_is_a_view = void;
  static constexpr char const* name = "rename";
  template <class A>
  using verdict = detail::rename_verdict<From, To, axes_in<A>>;
  template <class A>
  using result = typename detail::rename_sharding<From, To, sharding_in<A>>::type;
  template <class A>
  using refused = detail::after_error_of<typename A::value_type, result<A>, typename A::space>;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    constexpr bool is_block = varying_in<A>::size > 0;  // a block has extents of its own
    if (!is_block && To::extent != dynamic_extent && a.extent(From{}) != To::extent)
      throw_error("rename: ", To::name, " has the static extent ", To::extent, ", but ", From::name, " is ",
                  a.extent(From{}), "; rename to an axis of that extent or without a static one");
    using parts = typename detail::tensor_parts<typename A::element_type, result<A>, typename A::space>::type;
    return basic_tensor<typename A::element_type, result<A>, typename A::space>(static_cast<parts const&>(a));
  }
};

}  // namespace operation

/// The same memory with axis `From` renamed to `To`.
/// @throws ostraka::error, on all devices alike, if `To` has a static extent that differs from the extent of `From`
template <auto From, auto To, TensorOrVariable A>
[[nodiscard]] constexpr auto rename(A const& a) {
  return detail::operate(operation::rename<detail::type_of<From>, detail::type_of<To>>{}, a);
}

}  // namespace ostraka
