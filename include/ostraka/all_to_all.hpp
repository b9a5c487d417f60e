// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::all_to_all<J/X>(A)`: A[I_X, J] → A[I, J_X], (n−1)/n² of the gathered block received by each device.

#include <ostraka/detail/verb.hpp>

namespace ostraka {

namespace verb {

/// The type of os::all_to_all<I/X>. Of two dimensions: local_view/all_to_all.hpp.
template <class... Dims>
struct all_to_all;

template <class Dim>
struct all_to_all<Dim> : detail::verb<step::all_to_all, Dim> {};

}  // namespace verb

/// A[I_X, J] → A[I, J_X] for `J/X`: mesh axes move from the minor end of other axes to the minor end of the named one.
/// On n devices each receives (n−1)/n of the bytes of its block. Collective over these mesh axes.
/// @throws ostraka::error if the tensor is an empty handle
template <auto... Dim>
inline constexpr verb::all_to_all<detail::type_of<Dim>...> all_to_all{};

}  // namespace ostraka
