// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons about mixtures of experts.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

template <class Axis, class Sharding, class Operation>
struct groups_have_the_axis {
  static_assert(never<Axis, Sharding, Operation>, "ragged product: rows have the first axis named and lack the second, which numbers the groups and their matrices, and the numbers of rows have the second axis alone; name them in that order, as in os::ragged_dot<R, E>(x[R, M], w[E, M, F], sizes[E]), or os::rename an axis");
};

template <class Axis, class First, class Second, class Operation>
struct summed_in_groups_split_differently {
  static_assert(never<Axis, First, Second, Operation>, "ragged product: an axis of both operands is summed in place, so it is divided alike in both, and here the mesh axes or their order differ; divide it with os::slice, or gather it with os::all_gather, in one of them first");
};

template <class Tokens, class Experts, class Operation>
struct tokens_sharding_mismatch {
  static_assert(never<Tokens, Experts, Operation>, "experts: a tensor of tokens begins with the axes of the tensor that names their experts (except its last axis, the choices), in the same order and divided alike; put them in that order with os::transpose, or os::reshard first");
};

template <class Dim, class Experts>
struct expert_axes_must_divide_tokens {
  static_assert(never<Dim, Experts>, "dropless: tokens go to their experts along the mesh axes that divide the experts, so these mesh axes divide the tokens too, and each token is sent once; divide an axis of the tokens over them first with os::slice or os::reshard");
};

template <class Weights, class Dim>
struct expert_weights_sharding_mismatch {
  static_assert(never<Weights, Dim>, "dropless: the mesh axes that the call names divide the experts of the weights, and the mesh axes that divide tokens or experts divide no other axis of the weights; gather them first, as in os::reshard<E/X, M, F>(w)");
};

}  // namespace ostraka::reason
