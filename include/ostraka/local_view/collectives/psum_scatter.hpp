// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::psum_scatter<I/X>(a)`: in the body of os::shard_map, the sum of the blocks of the devices along X;
/// each device keeps its part along I. float[I, J] {V_X} → float[I, J] {V_X}, I shorter by the size of X.

#include <type_traits>

#include <ostraka/local_view/collectives/collective.hpp>

namespace ostraka {

namespace operation {

/// The type of os::psum_scatter<I/X>. This template serves arguments that are not a divided axis.
template <class Dim>
struct psum_scatter : detail::collective<psum_scatter<Dim>> {
  template <class...>
  using verdict = reason::not_a_divided_axis<Dim>;
};

template <class I, class... Ms>
struct psum_scatter<over<I, Ms...>> : detail::collective<psum_scatter<over<I, Ms...>>> {
  static constexpr char const* name = "psum_scatter";
  template <class A, class... Untiled>
  using verdict = detail::first_fault<
      typename decltype(detail::check_block_reduction<psum_scatter, reduction::sum, A, Ms...>())::type,
      detail::has_axis_verdict<A, I>,
      std::conditional_t<sizeof...(Untiled) == 0, reason::ok, detail::untiled_extent_verdict<I, Ms...>>>;
  template <class A>
  using move = detail::lifted_move<step::reduce_scatter,
                                   typename detail::lifted_as_part<A, reduction::sum, Ms...>::type, I, Ms...>;
  template <class A, class...>
  using moves = detail::moves_of_plan<detail::move_source<move<A>, A>>;

  template <class When, class A>
  auto run(When const&, A const& a) const {
    return detail::run_lifted<move<A>, void, When>(name, a);
  }
  template <class When, class A>
  auto run(When const&, A const& a, untiled_axis) const {
    return detail::run_lifted<move<A>, I, When>(name, a);
  }
};

}  // namespace operation

/// The sum of the blocks over the mesh axes of `Dim`, divided along its axis: device d of n keeps block d. With
/// os::untiled after the block the axis has one index for each device, and is dropped. Moves (n−1)/n of the block on
/// each of n devices. Collective over the mesh axes.
/// @throws ostraka::error, on all devices alike, if blocks have different extents, or an untiled axis another extent
template <auto Dim>
inline constexpr operation::psum_scatter<detail::type_of<Dim>> psum_scatter{};

/// Starts os::psum_scatter: it reads its operand until `wait` (pending.hpp).
template <auto Dim>
inline constexpr detail::started<operation::psum_scatter<detail::type_of<Dim>>> start_psum_scatter{};

}  // namespace ostraka
