// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::all_gather<X>(A)`: A[I_X, J] → A[I, J], (n−1)/n of the gathered block received by each device.

#include <ostraka/detail/verb.hpp>

namespace ostraka {

namespace verb {

/// The type of os::all_gather<X>.
template <class... Ms>
struct all_gather : detail::verb<step::all_gather, type_list<Ms...>> {};

}  // namespace verb

/// The tensor replicated along the mesh axes `Ms`, each of which divides it at the minor end of an axis. Collective
/// over `Ms`.
template <auto... Ms>
inline constexpr verb::all_gather<detail::type_of<Ms>...> all_gather{};

}  // namespace ostraka
