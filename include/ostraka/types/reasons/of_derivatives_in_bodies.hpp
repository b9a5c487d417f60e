// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons of differentiation in the bodies of os::shard_map.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

template <class MeshAxis, class Sharding>
struct partial_variable_enters {
  static_assert(never<MeshAxis, Sharding>, "shard_map: a variable that is partial over a manual mesh axis would have a cotangent for each summand, and the sum has one; os::all_reduce<X> it first, or sum it in the body by os::psum<X> of what is divided");
};

template <class Function>
struct preduce_has_no_derivative {
  static_assert(never<Function>, "preduce: the derivative calls the program's function on variables, and this one takes tensors of certain types alone; write it for all (auto const& left, auto const& right), give it a derivative by os::custom_vjp, or hold the blocks by os::stop_gradient");
};

template <class Results>
struct preduce_captures_variable {
  static_assert(never<Results>, "preduce: the program's function depends on its arguments alone, but it captures a variable; capture its value by os::stop_gradient(x), or make what the blocks need of it before they are combined");
};

template <class F>
struct stencil_function_has_no_derivative {
  static_assert(never<F>, "stencil: a function of variables says its derivative by the element at each neighbour n, derivative(n, x), or of several arguments derivative<K>(n, x, y) for one that is padded and derivative<K>(x, y) for one that is not; give this one such members, join it with its derivative by os::differentiable(f, df), or write what is linear as a product, os::einsum<I, J>(os::patches<M, N>(x), weights)");
};

template <class F>
struct stencil_has_first_derivatives {
  static_assert(never<F>, "stencil: its function says first derivatives, and nothing is known of theirs; for second derivatives write what is linear as a product, os::einsum<I, J>(os::patches<M, N>(x), weights), and the rest by os::map");
};

template <class Layers, class Stages>
struct pipeline_has_first_derivatives {
  static_assert(never<Layers, Stages>, "pipeline: its backward is another pipeline, which has no derivative of its own; for second derivatives go through the layers in a loop, or take the inner derivative of one layer");
};

}  // namespace ostraka::reason
