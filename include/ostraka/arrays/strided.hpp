// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The layout of elements that an application has: `os::strided(pointer, I = 1, J = n)` is memory with a
/// stride for each axis, `os::in_order<J, I>(view)` an array whose dimensions are J and I. os::from_local adopts them,
/// os::copy_from_local and os::copy_to_local copy from and to them. A[I, J] column-major is strided(p, I = 1, J = n).

#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/types/axes/sizes.hpp>

namespace ostraka {

/// The elements of a block, which begin at a pointer, with a stride for each axis, in elements.
template <class T, Axis... Is>
struct strided_memory {
  T* first;
  std::int64_t stride[sizeof...(Is) + 1];  // one more, because there may be no axes
};

/// This device's block of a tensor with these axes: the neighbour along I is `I = …` elements further on. Its extents
/// are those of the block. The memory is of the tensor's memory space, and has to outlive its users.
template <class T, class... Is>
[[nodiscard]] constexpr auto strided(T* first, named_extent<Is>... strides) {
  return strided_memory<T, Is...>{first, {strides.value...}};
}

/// An array whose dimensions are these axes. `Given` is a reference if the array has a name.
template <class Given, class... Is>
struct array_in_order {
  Given array;
};

/// An array with its dimensions in this order. A LayoutLeft view v(i, j) is row-major as J, I, so a tensor of J, I
/// adopts os::in_order<I, J>(v) without a copy.
template <auto... Is, class Array>
[[nodiscard]] constexpr auto in_order(Array&& array) {
  return array_in_order<Array, detail::type_of<Is>...>{std::forward<Array>(array)};
}

}  // namespace ostraka
