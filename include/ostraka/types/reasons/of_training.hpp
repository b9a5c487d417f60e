// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons about optimisers and sums of gradients.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

template <class Sharding>
struct parameter_is_partial {
  static_assert(never<Sharding>, "update: an optimiser changes values, and a partial parameter holds parts of them; store parameters reduced, os::reshard them once (gradients may be partial)");
};

template <class Parameter, class Gradient>
struct gradient_of_other_axes {
  static_assert(never<Parameter, Gradient>, "update: a gradient has its parameter's axes, in their order, under any sharding; give the gradient that os::value_and_grad made of these parameters");
};

template <class Element>
struct gradient_of_integers {
  static_assert(never<Element>, "update: an optimiser moves parameters by small steps, and integers have none; use parameters and gradients of real elements, such as os::cast<float>(counts)");
};

template <class Sum, class Given>
struct accumulated_another_sharding {
  static_assert(never<Sum, Given>, "accumulate: what is added to a sum has its sharding and its parts, because nothing moves; os::reshard one of them, or begin the sum with a gradient of this type");
};

template <class Gradient>
struct unscaled_in_float16 {
  static_assert(never<Gradient>, "unscale: gradients in float16 that are divided by the factor of a loss vanish again; unscale floats, os::tree_cast<float>(gradients), or keep parameters in float and cast them to os::float16 in the loss");
};

template <class Parameter, class Cotangent>
struct cotangent_of_other_axes {
  static_assert(never<Parameter, Cotangent>, "value_and_grad: a gradient has its parameter's axes, in their order, under any sharding, partial ones too; name these, os::value_and_grad<os::dims<I, J, os::partial(X)>>(f)");
};

}  // namespace ostraka::reason
