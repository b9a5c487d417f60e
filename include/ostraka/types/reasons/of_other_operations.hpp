// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons about operations on one tensor (moves, renames, reductions, assignments) and on several tensors
/// element by element.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

template <class Operation, class... Given>
struct another_number_of_arguments {
  static_assert(never<Operation, Given...>, "operation: it takes another number of arguments; look up its entry in docs/reference.md, and pass options only where it lists them");
};

// ---- one tensor -----------------------------------------------------------------------------------------------------

template <class First, class Second>
struct policy_comes_last {
  static_assert(never<First, Second>, "operation: reductions and reshards take one tensor, followed by at most one policy; write os::sum<I>(A, os::no_communication), and combine several tensors with os::einsum or os::map");
};

template <class From, class To>
struct reshard_changes_axes {
  static_assert(never<From, To>, "reshard: source and target must have the same axes, in any order; use os::sum or os::einsum to reduce, os::broadcast to repeat, os::rename to rename");
};

template <class From, class To>
struct assigned_another_sharding {
  static_assert(never<From, To>, "assignment: a tensor is assigned or passed only to one of the same sharding, because anything else would move it; write os::reshard<I/X, J>(A) with the dimensions of the target, here the second sharding");
};

template <class From, class To>
struct assigned_other_axes {
  static_assert(never<From, To>, "assignment: a tensor is assigned or passed only to one of the same axes in the same order; write os::einsum<J, I>(A) to transpose or reduce it, or os::rename<J, K>(A) to give an axis another name");
};

template <class Axis>
struct renamed_axis_missing {
  static_assert(never<Axis>, "rename: the renamed axis is an axis of the tensor; name one that it has");
};

template <class Axis>
struct renamed_axis_collides {
  static_assert(never<Axis>, "rename: the new name is not yet an axis of the tensor; choose another name or rename that axis first");
};

template <class X, class Sharding>
struct all_gather_needs_a_split {
  static_assert(never<X, Sharding>, "all_gather: each gathered mesh axis divides an axis of the tensor; name mesh axes that divide it, or use os::reshard");
};

template <class X, class Sharding>
struct all_gather_not_from_minor_end {
  static_assert(never<X, Sharding>, "all_gather: a mesh axis is gathered only from the minor end of its axis (Y before X in I/X/Y), because blocks would otherwise change places; gather the minor ones too or use os::reshard");
};

template <class X, class Sharding>
struct all_reduce_needs_a_partial {
  static_assert(never<X, Sharding>, "all_reduce: each reduced mesh axis holds partial sums of the tensor; name mesh axes of its os::partial, or use os::sum to reduce an axis");
};

template <class X, class Sharding>
struct reduce_scatter_needs_a_partial {
  static_assert(never<X, Sharding>, "reduce_scatter: each mesh axis that is scattered onto holds partial sums of the tensor; name mesh axes of its os::partial, or use os::slice where it is replicated");
};

template <class X, class Sharding>
struct all_to_all_needs_a_split_elsewhere {
  static_assert(never<X, Sharding>, "all_to_all: the moved mesh axis divides another axis of the tensor, at the minor end; use os::slice where the tensor is replicated, os::reshard for anything else");
};

template <class X, class Sharding>
struct slice_needs_a_replicated_axis {
  static_assert(never<X, Sharding>, "slice: the mesh axis is not used by the tensor yet; use os::reduce_scatter where it is partial, os::all_to_all or os::reshard where it divides an axis");
};

template <class Target>
struct not_a_divided_axis {
  static_assert(never<Target>, "verb: os::slice, os::reduce_scatter, os::all_to_all and the like take an axis and the mesh axes that divide it; write I/X, or use os::reshard");
};

template <class Sharding>
struct not_a_scalar {
  static_assert(never<Sharding>, "value: a tensor without axes holds one number; reduce the others first, as in os::sum<>(A), or read A.local()");
};

template <class T>
struct value_of_a_non_tensor {
  static_assert(never<T>, "value: os::value takes the number out of a tensor without axes, and this is no tensor; leave os::value out where an operation gives a number, as os::global_norm does");
};

template <class Sharding, class Number>
struct tensor_is_not_a_number {
  static_assert(never<Sharding, Number>, "value: a tensor is neither a number nor a bool, even if it has no axes; take its number with os::value, as in double s = os::value(os::sum<>(A))");
};

template <class Sharding>
struct no_element_access {
  static_assert(never<Sharding>, "element: the elements of a tensor are on several devices, so indices do not reach them, as in A(0, 0) or A[0]; read this device's block, A.local()(0, 0), take the number of a tensor without axes with os::value(A), or bring all elements to one device with os::gather_to_root(A)");
};

template <class Axis, class Sharding>
struct axis_missing {
  static_assert(never<Axis, Sharding>, "tensor: the axis asked for is an axis of the tensor; name one that it has");
};

// ---- several tensors, element by element ----------------------------------------------------------------------------

template <class X, class Operation>
struct partial_in_nonlinear_operation {
  static_assert(never<X, Operation>, "partial: the operation needs values, and a partial tensor holds parts of them (for summands, f(a) + f(b) is not f(a + b)); reduce it first with os::all_reduce or os::reduce_scatter, or, if the function of an os::map preserves such parts, say so in os::preserves");
};

template <class X>
struct partial_plus_replicated {
  static_assert(never<X>, "partial: summands are added, and factors multiplied, only with tensors that are partial over the same mesh axes, because the other operand would otherwise be counted once per device; reduce the partial one first, or ask for the other as a partial result");
};

template <class X>
struct partials_multiplied {
  static_assert(never<X>, "partial: the operation keeps the parts of one operand at a time, because a product of sums is not the sum of the products; reduce all but one first with os::all_reduce or os::reduce_scatter");
};

template <class X, class First, class Second>
struct partial_kinds_meet {
  static_assert(never<X, First, Second>, "partial: operands whose parts are combined in different ways do not meet, because a maximum of sums is not the sum of the maxima; reduce one of them first with os::all_reduce or os::reduce_scatter");
};

template <class X, class Axis>
struct partial_meets_divided_axis {
  static_assert(never<X, Axis>, "partial: an operand is partial over a mesh axis that divides an axis of another, and its block would lack the parts of the other devices; reduce it first with os::reduce_scatter onto that axis (moves (n-1)/n of it)");
};

template <class Axis, class LeftOver, class RightOver>
struct axis_split_differently {
  static_assert(never<Axis, LeftOver, RightOver>, "map: in operations element by element, such as A + B, an axis that several tensors share is divided alike in all of them, or in one of them over the first mesh axes only (the rest is a free slice); reshard one of them first, as in A + os::reshard<I/X, J>(B)");
};

template <class MeshAxis, class FirstAxis, class SecondAxis>
struct mesh_axis_on_two_axes {
  static_assert(never<MeshAxis, FirstAxis, SecondAxis>, "map: in operations element by element, such as A + B, a mesh axis divides the same axis in all tensors; reshard one of them first, as in A + os::reshard<I/X, J>(B)");
};

template <class A, class B>
struct operator_in_place {
  static_assert(never<A, B>, "operator: tensors have no +=, -=, *= and /=, because other handles may share the block, and the operator would change them too, or detach this one; write A = A + B, which makes a new tensor, or os::map_into(A, f, A, B), which writes into the block");
};

template <class Operation>
struct complex_numbers_compared {
  static_assert(never<Operation>, "comparison: complex numbers have no order; compare their moduli or parts, or ask for == and !=");
};

template <class Element, class Operation>
struct logic_of_numbers {
  static_assert(never<Element, Operation>, "operator: &&, || and ! combine tensors of bools; compare numbers first, as in A > 0, or convert them, as in os::cast<bool>(A)");
};

template <class Element>
struct condition_of_numbers {
  static_assert(never<Element>, "where: the condition is a tensor of bools; compare numbers, as in A > 0, or convert them, as in os::cast<bool>(A)");
};

template <class... Arguments>
struct function_comes_first {
  static_assert(never<Arguments...>, "map: the function comes before the tensors whose elements it takes, and in map_into after the tensor that is written; write os::map(f, A, B) or os::map_into(C, f, A, B)");
};

template <class Function, class... Given>
struct function_takes_other_arguments {
  static_assert(never<Function, Given...>, "function: os::map and os::map_into call it with an element of each tensor, in their order, os::generate with the index of an element along each axis, as std::int64_t, and none of them changes it; give it as many parameters, of types to which the arguments (listed here after the function) convert");
};

template <class... Elements>
struct function_is_overloaded {
  static_assert(never<Elements...>, "function: several functions have this name, and nothing says which one is called; write a lambda that calls it, as in os::map([](double x) { return f(x); }, A)");
};

template <class Function>
struct function_of_the_host {
  static_assert(never<Function>, "function: in a GPU's memory os::map, os::map_into, os::generate, os::stencil and os::for_each_point call it in a kernel, and its name is an address of the host's code, which a kernel cannot call; write a struct whose operator() is marked KOKKOS_FUNCTION, or a KOKKOS_LAMBDA that calls it");
};

template <class Element, class Operation>
struct elements_have_no_order {
  static_assert(never<Element, Operation>, "reduction: complex numbers have no maximum and no minimum; reduce a real-valued os::map of them, such as their modulus");
};

template <class Element, class Operation>
struct elements_are_not_integral {
  static_assert(never<Element, Operation>, "reduction: only integers and bools are combined bit by bit; compare the elements first, as in A > 0, which gives bools");
};

template <class Operation>
struct bools_do_not_add {
  static_assert(never<Operation>, "reduction: bools are neither summed nor multiplied; combine them with os::bit_or (any) and os::bit_and (all), or convert them first, as in os::cast<std::int32_t>(A), whose sum counts those that are true");
};

template <class Operation>
struct arithmetic_of_bools {
  static_assert(never<Operation>, "arithmetic: bools are not numbers; combine them with &&, || and !, choose by them with os::where, or convert them first, as in os::cast<float>(A)");
};

template <class Partial, class Operation>
struct partial_of_another_kind {
  static_assert(never<Partial, Operation>, "reduction: sums, including os::einsum, keep and make only partial sums, maxima only partial maxima, and so on, because a maximum of sums is not the sum of the maxima; reduce the operand first with os::all_reduce or os::reduce_scatter, and ask for a partial result of the operation's own kind");
};

template <class From, class To>
struct cast_drops_imaginary_part {
  static_assert(
      never<From, To>,
      "cast: a complex number is not a real one; take its real part with os::real, or its modulus with os::abs");
};

template <class Element>
struct mean_of_integers {
  static_assert(never<Element>, "mean: the mean of integers is not an integer; convert them first, as in os::cast<double>(A), or divide os::sum and round the quotient as you need");
};

}  // namespace ostraka::reason
