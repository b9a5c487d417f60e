// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::psum_scatter<I/X>(a)`: in the body of os::shard_map, the sum of the blocks of the devices along X, of
/// which each keeps its part along I. float[I, J] {V_X} → float[I, J] {V_X}, I shorter by the size of X.

#include <ostraka/local_view/collectives/collective.hpp>

namespace ostraka {

namespace operation {

/// The type of os::psum_scatter<I/X>.
template <class Dim>
struct psum_scatter : detail::collective<psum_scatter<Dim>> {
  template <class When, class A, class... Untiled>
  static auto call(A const&, Untiled...) {
    static_cast<void>(detail::may_move<reason::not_a_divided_axis<Dim>, A>());
    return detail::block_after_error<A>{};
  }
};

template <class I, class... Ms>
struct psum_scatter<over<I, Ms...>> : detail::collective<psum_scatter<over<I, Ms...>>> {
  template <class When, class A>
  static auto call(A const& a) {
    return scatter<When, void>(a);
  }
  template <class When, class A>
  static auto call(A const& a, untiled_axis) {
    return scatter<When, I>(a);
  }

 private:
  template <class When, class Dropped, class A>
  static auto scatter(A const& a) {
    using verdict = detail::first_fault<
        typename decltype(detail::check_block_reduction<psum_scatter, reduction::sum, A, Ms...>())::type,
        detail::has_axis_verdict<A, I>,
        std::conditional_t<std::is_void_v<Dropped>, reason::ok, detail::untiled_extent_verdict<I, Ms...>>>;
    if constexpr (detail::may_move<verdict, A>()) {
      using lifted = typename detail::lifted_as_part<A, reduction::sum, Ms...>::type;
      return detail::run_lifted<detail::lifted_move<step::reduce_scatter, lifted, I, Ms...>, Dropped, When>(
          "psum_scatter", a);
    } else {
      return detail::block_after_error<A>{};
    }
  }
};

}  // namespace operation

/// The sum of the blocks over the mesh axes of `Dim`, divided along its axis: device d of n keeps block d. With
/// os::untiled behind the block the axis has an index for each device, and goes. Moves (n−1)/n of the block on each of
/// n devices. Collective over the mesh axes.
/// @throws ostraka::error, on all devices alike, if blocks have different extents, or an untiled axis another extent
template <auto Dim>
inline constexpr operation::psum_scatter<detail::type_of<Dim>> psum_scatter{};

/// The same, begun: it reads its operand until `wait` (pending.hpp).
template <auto Dim>
inline constexpr detail::started<operation::psum_scatter<detail::type_of<Dim>>> start_psum_scatter{};

}  // namespace ostraka
