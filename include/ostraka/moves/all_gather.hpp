// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::all_gather<X>(A)`: A[I_X, J] → A[I, J], (n−1)/n of the gathered block received by each device.

#include <ostraka/moves/one_move.hpp>

namespace ostraka {

namespace operation {

/// The type of os::all_gather<X>.
template <class... Ms>
struct all_gather : detail::verb<all_gather<Ms...>, step::all_gather, type_list<Ms...>> {};

}  // namespace operation

/// A[I_X, J] → A[I, J]: the tensor replicated along the mesh axes `Ms`. Each of them divides it at the minor end of an
/// axis. Each of the n devices along them receives (n−1)/n of the bytes of its result. Collective over `Ms`.
/// @throws ostraka::error if the tensor is an empty handle
template <auto... Ms>
inline constexpr operation::all_gather<detail::type_of<Ms>...> all_gather{};

}  // namespace ostraka
