// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::all_gather<I/X>(a)`: in the body of os::shard_map, the blocks of the devices along X, one after the other
/// along I, or, if the block has no axis I, stacked along it. float[I] {V_X} → float[I]; float[J] {V_X} → float[I, J]

#include <ostraka/all_gather.hpp>
#include <ostraka/local_view/collective.hpp>

namespace ostraka::verb {

/// Of os::all_gather<I/X>: all devices along X have the same afterwards, so the result does not vary along it. A new axis
/// comes first. Moves n − 1 blocks to each of n devices. Collective over `Ms`.
/// @throws ostraka::error, on all devices alike, if other extents than I's differ along `Ms`
template <class I, class... Ms>
struct all_gather<over<I, Ms...>> : detail::collective<all_gather<over<I, Ms...>>> {
  template <class When, class A>
  static auto call(A const& a) {
    constexpr bool stacks = position_in<I, axes_in<A>> < 0;
    using verdict = detail::first_fault<
        detail::varies_verdict<A, Ms...>,
        std::conditional_t<stacks, detail::untiled_extent_verdict<I, Ms...>, reason::ok>>;
    if constexpr (detail::may_move<verdict, A>()) {
      if constexpr (stacks)
        return gather<When, typename detail::lifted_as_stack<A, I, Ms...>::type>(a);
      else
        return gather<When, typename detail::lifted_as_division<A, I, Ms...>::type>(a);
    } else {
      return detail::whole_after_error<A>{};
    }
  }
  template <class When, class A>
  static auto call(A const& a, untiled_axis) {
    if constexpr (detail::may_move<detail::new_axis_verdict<A, I>, A>())
      return call<When>(a);
    else
      return detail::whole_after_error<A>{};
  }

 private:
  template <class When, class Lifted, class A>
  static auto gather(A const& a) {
    return detail::run_lifted<detail::lifted_move<step::all_gather, Lifted, void, Ms...>, void, When>("all_gather", a);
  }
};

}  // namespace ostraka::verb

namespace ostraka {

/// os::all_gather<I/X>, begun (pending.hpp).
template <auto Dim>
inline constexpr detail::started<verb::all_gather<detail::type_of<Dim>>> start_all_gather{};

}  // namespace ostraka
