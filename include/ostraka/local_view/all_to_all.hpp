// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::all_to_all<I/X, J/X>(a)`: in the body of os::shard_map, blocks that were parts of I become parts of J: device
/// d along X is sent block d along J, and puts what it is sent one after the other along I. float[I, J] {V_X} → float[I, J]
/// {V_X}

#include <ostraka/all_to_all.hpp>
#include <ostraka/local_view/collective.hpp>

namespace ostraka::verb {

/// Of os::all_to_all<I/X, J/X>. With os::untiled behind the block J has an index for each device, and goes, and I is new and
/// comes first. Moves (n−1)/n of the block on each of n devices. Collective over `Ms`.
/// @throws ostraka::error, on all devices alike, if extents differ along `Ms` that are not I's, or an untiled axis has another
template <class I, class J, class... Ms>
struct all_to_all<over<I, Ms...>, over<J, Ms...>> : detail::collective<all_to_all<over<I, Ms...>, over<J, Ms...>>> {
  template <class When, class A>
  static auto call(A const& a) {
    using verdict = detail::first_fault<detail::varies_verdict<A, Ms...>, detail::has_axis_verdict<A, I>,
                                        detail::has_axis_verdict<A, J>>;
    if constexpr (detail::may_move<verdict, A>())
      return exchange<When, typename detail::lifted_as_division<A, I, Ms...>::type, void>(a);
    else
      return detail::block_after_error<A>{};
  }
  template <class When, class A>
  static auto call(A const& a, untiled_axis) {
    using verdict = detail::first_fault<detail::varies_verdict<A, Ms...>, detail::new_axis_verdict<A, I>,
                                        detail::has_axis_verdict<A, J>, detail::untiled_extent_verdict<I, Ms...>,
                                        detail::untiled_extent_verdict<J, Ms...>>;
    if constexpr (detail::may_move<verdict, A>())
      return exchange<When, typename detail::lifted_as_stack<A, I, Ms...>::type, J>(a);
    else
      return detail::block_after_error<A>{};
  }

 private:
  template <class When, class Lifted, class Dropped, class A>
  static auto exchange(A const& a) {
    return detail::run_lifted<detail::lifted_move<step::all_to_all, Lifted, J, Ms...>, Dropped, When>("all_to_all", a);
  }
};

}  // namespace ostraka::verb

namespace ostraka {

/// os::all_to_all<I/X, J/X>, begun (pending.hpp).
template <auto From, auto To>
inline constexpr detail::started<verb::all_to_all<detail::type_of<From>, detail::type_of<To>>> start_all_to_all{};

}  // namespace ostraka
