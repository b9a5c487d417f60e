// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::all_reduce<X>(A)`: A[I] {U_X} → A[I], 2(n−1)/n of the block moved per device.

#include <ostraka/moves/one_move.hpp>

namespace ostraka {

namespace operation {

/// The type of os::all_reduce<X>.
template <class... Ms>
struct all_reduce : detail::verb<all_reduce<Ms...>, step::all_reduce, type_list<Ms...>> {};

}  // namespace operation

/// A[I] {U_X} → A[I]: combines the parts along the mesh axes `Ms`, to a sum, a maximum, … by the kind of the partial
/// tensor. The tensor is partial over each of `Ms`. All devices get the same bits. Each of the n devices moves 2(n−1)/n
/// of the bytes of its block. Collective over `Ms`.
/// @throws ostraka::error if the tensor is an empty handle
template <auto... Ms>
inline constexpr operation::all_reduce<detail::type_of<Ms>...> all_reduce{};

}  // namespace ostraka
