// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The operation of os::fft and its variants, as a type by which its derivative is found; the axes that it
/// makes; and the length that the derivative passes to it.

#include <cstdint>

#include <ostraka/calls/along.hpp>
#include <ostraka/plan/typed/to_spec.hpp>
#include <ostraka/types/values/fourier_kind.hpp>

namespace ostraka::operation {

/// `Along`: the transformed axis with the mesh axes that divide it; os::dims of several. `Named`: the result's
/// dimensions, or only its new axes.
template <fourier_kind Kind, class Along, class Named>
struct fourier;

}  // namespace ostraka::operation

namespace ostraka::detail {

/// The axes that a call transforms, with the mesh axes that divide them.
template <class Along>
struct dims_of_call {
  using type = type_list<Along>;
};
template <auto... Dims>
struct dims_of_call<dims<Dims...>> {
  using type = type_list<type_of<Dims>...>;
};

template <class Dims>
struct axes_of_dims;
template <class... Dims>
struct axes_of_dims<type_list<Dims...>> {
  using type = type_list<typename axis_argument<Dims>::axis...>;
};
/// The axes that a call transforms.
template <class Along>
using transformed_axes = typename axes_of_dims<typename dims_of_call<Along>::type>::type;

/// The axes of the result that the axes Is become: those that are not batch axes of the operand.
template <class Result, class Axes, class Is>
using new_axes = difference_of<Result, difference_of<Axes, Is>>;

/// The n of a real result, which derivatives know. For a block it may differ from that of the axis' type.
struct fourier_length {
  std::int64_t n;
};

}  // namespace ostraka::detail
