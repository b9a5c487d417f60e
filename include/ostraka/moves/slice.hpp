// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::slice<I/X>(A)`: A[I] → A[I_X]; each device keeps its part, nothing moves.

#include <ostraka/moves/one_move.hpp>

namespace ostraka {

namespace operation {

/// The type of os::slice<I/X>.
template <class Dim>
struct slice : detail::verb<slice<Dim>, step::slice, Dim> {};

}  // namespace operation

/// A[I] → A[I_X]: divides an axis over mesh axes along which the tensor is replicated. Nothing moves between devices;
/// each device copies the part that it keeps.
/// @throws ostraka::error if the tensor is an empty handle
template <auto Dim>
inline constexpr operation::slice<detail::type_of<Dim>> slice{};

}  // namespace ostraka
