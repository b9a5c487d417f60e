// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::reduce_scatter<I/X>(A)`: A[I] {U_X} → A[I_X], (n−1)/n of the block sent by each device.

#include <ostraka/moves/one_move.hpp>

namespace ostraka {

namespace operation {

/// The type of os::reduce_scatter<I/X>.
template <class Dim>
struct reduce_scatter : detail::verb<reduce_scatter<Dim>, step::reduce_scatter, Dim> {};

}  // namespace operation

/// A[I] {U_X} → A[I_X]: combines the parts along the mesh axes of `Dim`, and divides the result over these mesh axes,
/// at the minor end of the axis. The tensor is partial over each of them. `I/X/Y` scatters over X and Y at once. Each
/// of the n devices sends (n−1)/n of the bytes of its block. Collective over these mesh axes.
/// @throws ostraka::error if the tensor is an empty handle
template <auto Dim>
inline constexpr operation::reduce_scatter<detail::type_of<Dim>> reduce_scatter{};

}  // namespace ostraka
