// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::all_to_all<J/X>(A)`: A[I_X, J] → A[I, J_X], (n−1)/n² of the gathered block received by each device.

#include <ostraka/moves/one_move.hpp>

namespace ostraka {

namespace detail {

template <class Dim>
inline constexpr bool is_divided = false;
template <class I, class... Ms>
inline constexpr bool is_divided<over<I, Ms...>> = true;

// The error for dimensions other than one or two that are all divided over the same mesh axes.
template <class... Dims>
struct refused_all_to_all {
  using verdict = reason::not_a_divided_axis<sharding<Dims...>>;
};
template <class I, class J>
struct refused_all_to_all<I, J> {
  using verdict =
      std::conditional_t<!is_divided<I>, reason::not_a_divided_axis<I>,
                         std::conditional_t<!is_divided<J>, reason::not_a_divided_axis<J>,
                                            reason::all_to_all_along_two_groups<I, J>>>;
};

}  // namespace detail

namespace operation {

/// The type of os::all_to_all<I/X>. The type for blocks, with two dimensions, is in
/// local_view/collectives/all_to_all_blocks.hpp; this one refuses anything else.
template <class... Dims>
struct all_to_all : detail::callable<all_to_all<Dims...>> {
  static constexpr char const* name = "all_to_all";
  template <class...>
  using verdict = typename detail::refused_all_to_all<Dims...>::verdict;
};

template <class Dim>
struct all_to_all<Dim> : detail::verb<all_to_all<Dim>, step::all_to_all, Dim> {};

}  // namespace operation

/// A[I_X, J] → A[I, J_X] for `J/X`: mesh axes move from the minor end of other axes to the minor end of the named one.
/// Each of the n devices receives (n−1)/n of the bytes of its block. Collective over these mesh axes.
/// @throws ostraka::error if the tensor is an empty handle
template <auto... Dim>
inline constexpr operation::all_to_all<detail::type_of<Dim>...> all_to_all{};

}  // namespace ostraka
