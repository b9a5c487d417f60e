// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons about differentiation: functions that os::map applies to variables, and variables in the bodies of
/// os::shard_map.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

template <class Operation>
struct no_derivative {
  static_assert(never<Operation>, "derivative: an operation on variables has a rule for its derivative, and this one has none; hold the variable by os::stop_gradient, give the operation a derivative of your own by os::custom_vjp, or specialise os::derivative_of for it");
};

template <class T>
struct derivative_of_integers {
  static_assert(
      never<T>,
      "value_and_grad: derivatives are taken of floating-point and complex numbers; pass tensors of other elements as constants, after the parameters");
};

template <class Sharding>
struct loss_is_not_a_scalar {
  static_assert(never<Sharding>, "value_and_grad: the function gives one number, a tensor without axes that is not partial; reduce its result by os::sum<>(x) or os::mean<>(x)");
};

template <class MeshAxis, class Loss, class Gradient>
struct loss_varies_where_gradient_does_not {
  static_assert(never<MeshAxis, Loss, Gradient>, "value_and_grad: a loss that differs along a mesh axis has a gradient for each device, and a parameter that is the same along it has one, which would silently be their sum; os::psum<X> the loss for the gradient of the sum, or pass os::pvary<X>(w) for each device's own gradient");
};

template <class Element>
struct loss_is_complex {
  static_assert(
      never<Element>,
      "value_and_grad: the gradient is that of a real number, and the function gives a complex one; take its real part, os::real(loss), its modulus, os::abs(loss), or one part after the other");
};

template <class Variable>
struct region_captures_variable {
  static_assert(never<Variable>, "checkpoint: the function depends on its arguments alone, but it captures a variable; pass it as an argument, or its value by os::stop_gradient(x)");
};

template <class Result>
struct region_result_is_not_a_tensor {
  static_assert(never<Result>, "checkpoint: the function of a region gives one tensor; return each of several tensors from a region of its own, or compute the others outside");
};

template <class Cotangents>
struct cotangents_of_other_number {
  static_assert(never<Cotangents>, "custom_vjp: the second function gives one cotangent for each operand, several as a std::tuple, in the order of the operands");
};

template <class F>
struct gradient_plan_of_captures {
  static_assert(never<F>, "gradient_plan: the function is known from its type, so it captures nothing; pass what it captures as data, or declare it constexpr outside of it");
};

template <class Variable>
struct diagonal_has_no_derivative {
  static_assert(never<Variable>, "relabel: a diagonal is taken of a plain tensor, and this is a variable; multiply the variable by a mask made with os::generate, and sum, or take the diagonal of os::stop_gradient(x)");
};

template <class... Given>
struct verb_takes_no_variables {
  static_assert(never<Given...>, "start_einsum, start_reshard, einsum_into, map_into, reshard_into, stencil_into, reshard to another mesh: these operations take plain tensors, because they end later, write into an existing tensor, or move to another mesh, and one operand here is a variable; write os::einsum, os::map or os::reshard on its mesh, which return new tensors, or pass os::stop_gradient(x)");
};

template <class Keys>
struct cache_of_variables {
  static_assert(never<Keys>, "append: a cache is written in place, for decoding, and no derivative flows through it; append os::stop_gradient(keys) and os::stop_gradient(values)");
};

template <class F>
struct function_has_no_derivative {
  static_assert(never<F>, "map: a function of variables states its derivative in members: derivative(x), or derivative<K>(x, y) for several arguments, and for derivatives of derivatives second_derivative(x), or second_derivative<K, L>(x, y); give this one such members, or join it with its derivative by os::differentiable(f, df)");
};

// In the bodies of os::shard_map.

template <class MeshAxis, class Sharding>
struct partial_variable_enters {
  static_assert(never<MeshAxis, Sharding>, "shard_map: a variable that is partial over a manual mesh axis would have a cotangent for each summand, and the sum has one; os::all_reduce<X> it first, or pass the divided tensor and sum it in the body with os::psum<X>");
};

template <class Function>
struct preduce_has_no_derivative {
  static_assert(never<Function>, "preduce: the derivative calls the program's function on variables, and this one takes tensors of certain types alone; write it for all (auto const& left, auto const& right), give it a derivative by os::custom_vjp, or hold the blocks by os::stop_gradient");
};

template <class Results>
struct preduce_captures_variable {
  static_assert(never<Results>, "preduce: the program's function depends on its arguments alone, but it captures a variable; capture its value by os::stop_gradient(x), or apply it to the blocks before they are combined");
};

template <class F>
struct stencil_function_has_no_derivative {
  static_assert(never<F>, "stencil: a function of variables states its derivative with respect to the element at each neighbour n in members: derivative(n, x), or for several arguments derivative<K>(n, x, y) where argument K is padded and derivative<K>(x, y) where it is not; give this one such members, join it with its derivative by os::differentiable(f, df), or write the linear part as a product, os::einsum<I, J>(os::patches<M, N>(x), weights)");
};

template <class F>
struct stencil_has_first_derivatives {
  static_assert(never<F>, "stencil: its function states first derivatives only; for second derivatives write the linear part as a product, os::einsum<I, J>(os::patches<M, N>(x), weights), and the rest with os::map");
};

template <class Layers, class Stages>
struct pipeline_has_first_derivatives {
  static_assert(never<Layers, Stages>, "pipeline: its backward is another pipeline, which has no derivative of its own; for second derivatives go through the layers in a loop, or take the inner derivative of one layer");
};

}  // namespace ostraka::reason
