// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons of the arrays that an application has: blocks that are copied from and to them, and results that
/// are written to them.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

template <class Array, class Sharding>
struct array_of_other_axes {
  static_assert(never<Array, Sharding>, "array: os::strided and os::in_order name each axis of the tensor once; write os::strided(pointer, I = 8, J = 1), os::in_order<J, I>(view)");
};

template <class Array, class Tensor>
struct not_an_array_of_the_tensor {
  static_assert(never<Array, Tensor>, "array: this device's block of the tensor that is named is in a Kokkos::View or an mdspan of the tensor's element type with a dimension for each axis, in a std::span or std::vector of such elements, or in os::strided(pointer, I = 8, J = 1), and what computes writes to memory of its own; give one of these (os::einsum_into<I/X, K>(view, A, B) names the axes), convert elements with os::cast, and copy to other memory with os::copy_to_local");
};

}  // namespace ostraka::reason
