// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::slice<I/X>(A)`: A[I] → A[I_X]; each device keeps its part, nothing moves.

#include <ostraka/detail/verb.hpp>

namespace ostraka {

namespace verb {

/// The type of os::slice<I/X>.
template <class Dim>
struct slice : detail::verb<step::slice, Dim> {};

}  // namespace verb

/// Divides an axis over mesh axes along which the tensor is replicated. Moves nothing between devices; copies the part
/// that is kept.
template <auto Dim>
inline constexpr verb::slice<detail::type_of<Dim>> slice{};

}  // namespace ostraka
