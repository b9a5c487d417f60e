// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons about products: einsums that cannot be planned, and each cell of the table of two operands that
/// os::contract refuses. X and Y are mesh axes, B is a batch axis (in both operands and the result), J a contracted one
/// (in both, not in the result), I and K are outer ones (in one operand and the result). Costs are per device. There
/// are n devices along the mesh axis, and |T| is the bytes of T as divided by the other mesh axes.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

// ---- einsum ---------------------------------------------------------------------------------------------------------

template <class Axis>
struct result_axis_in_no_operand {
  static_assert(never<Axis>, "result: each axis of the result is an axis of an operand; drop it from the result or use an operand that has it");
};

template <class Axis, class Operand, class... Rename>
struct unshared_axis_would_be_summed {
  static_assert(never<Axis, Operand, Rename...>, "einsum: an axis that only one of several operands has, and the result lacks, is summed on its own only on request; give it the name of the axis that it is to meet in another operand, by the rename shown here, sum it first with os::sum, or request the sum, as in os::einsum<B, H>(A, B, os::sum_over(N))");
};

template <class Axis>
struct sum_over_of_shared_axis {
  static_assert(never<Axis>, "einsum: os::sum_over names axes that only one operand has and the result lacks, and this one is kept, or summed together with another operand's; drop it from os::sum_over");
};

template <class Argument>
struct not_an_operand {
  static_assert(never<Argument>, "einsum: the arguments are tensors, followed by at most one policy, such as os::gather_left, and in einsum_into by os::alpha = 2 and os::beta = 1; make a tensor of an array with os::from_local, and drop any other argument");
};

template <class Verb>
struct verb_is_no_policy {
  static_assert(never<Verb>, "policy: a verb such as os::all_gather<X> moves one tensor, and is not a policy for an operation on others; apply it to its tensor, as in os::einsum<I, K>(os::all_gather<X>(A), B), or give a policy, such as os::gather_left or os::reduce_result");
};

template <int Operands>
struct too_many_operands {
  static_assert(Operands < 0, "operation: it takes at most eight tensors at a time; combine some of them first");
};

template <class Factor>
struct factor_given_twice {
  static_assert(never<Factor>, "einsum_into: alpha and beta are given at most once each; drop one of the two");
};

template <class Number, class Element>
struct number_of_another_kind {
  static_assert(never<Number, Element>, "number: a number that meets elements is of their kind: a whole number for integers, a real one for float, double and 16-bit elements; give such a number, or convert the tensor first, as in os::cast<double>(A)");
};

template <int Axes>
struct too_many_labels {
  static_assert(Axes < 0, "operation: all tensors of one operation together have at most sixteen different axes; combine some of them first, or rename axes that mean the same");
};

template <int MeshAxes>
struct too_many_mesh_axes {
  static_assert(MeshAxes < 0, "operation: all tensors of one operation together name at most seven mesh axes; reshard some of them first");
};

template <class... Operands>
struct product_of_too_many_axes {
  static_assert(never<Operands...>, "einsum: in every order of the products there is one with more than eight axes, the most that a tensor can have; multiply some of the operands first, so that axes are summed early");
};

template <class Policy, int Operands>
struct policy_is_for_two_operands {
  static_assert(Operands < 0, "einsum: os::gather_left, os::gather_right and os::reduce_result are for two operands; multiply two of them in a call of their own, or bound what is moved with os::at_most or os::no_communication");
};

template <class Left, class Right>
struct element_types_differ {
  static_assert(never<Left, Right>, "elements: tensors that meet in an operation, and both sides of an assignment, have the same element type; convert one with os::cast first, as in os::cast<double>(A)");
};

template <class Policy, class... Operands>
struct policy_admits_no_plan {
  static_assert(never<Policy, Operands...>, "policy: no plan reaches the named result under the given policy; drop the policy, or name a result that it can reach (os::describe(os::plan<I, K>(A, B)) shows what the cheapest plan moves)");
};

template <long long Bytes, long long Budget>
struct plan_exceeds_budget {
  static_assert(Bytes <= Budget, "policy: os::at_most<bytes> is what each device may move at most, and the plan (first number) moves more than the budget (second number); raise the budget, or name shardings that move less (os::describe(os::plan<I, K>(A, B)) shows the steps)");
};

template <long long Bytes, long long Limit>
struct plan_exceeds_workspace {
  static_assert(Bytes <= Limit, "policy: os::within<bytes>() is the workspace that each device may take at most, and every plan takes more, in any number of passes over a label: the least (first number) is above the limit (second number); raise the limit, or name shardings that gather less (os::describe(os::plan<I, K>(A, B)) shows the steps)");
};

template <class Policy>
struct policy_not_for_reshard {
  static_assert(never<Policy>, "reshard: one tensor is moved by the cheapest plan, and the policies for that are os::no_communication, os::at_most<bytes> and os::within(bytes); drop the policy, or use the verb of that move (os::all_gather, os::all_reduce, ...)");
};

// ---- contract: each cell of the table of two operands that needs communication --------------------------------------

template <class Axis>
struct contracted_axis_in_no_operand {
  static_assert(never<Axis>, "contract: a contracted axis is an axis of an operand; drop it from the list");
};

template <class Axis, class Operand>
struct contracted_axis_in_one_operand {
  static_assert(never<Axis, Operand>, "contract: a contracted axis is an axis of both operands, and this one is in one of them; give the axes that are to meet one name with os::rename, sum this one first with os::sum, or ask for both with os::einsum and os::sum_over(N)");
};

template <class J, class LeftOver, class RightOver>
struct contracted_axis_split_differently {
  static_assert(never<J, LeftOver, RightOver>, "contract: a contracted axis is divided alike in both operands, and here the mesh axes or their order differ; name the result with os::einsum to authorise an all-gather of either operand (moves (n-1)/n of it) or an all-to-all of one of them (moves (n-1)/n^2), or reshard one first");
};

template <class B, class LeftOver, class RightOver>
struct batch_axis_split_differently {
  static_assert(never<B, LeftOver, RightOver>, "contract: a batch axis is divided alike in both operands, and here the mesh axes or their order differ; name the result with os::einsum to authorise an all-gather of either operand (moves (n-1)/n of it) or a block exchange of one of them, or reshard one first");
};

template <class B, class J, class X>
struct batch_axis_meets_contracted_axis {
  static_assert(never<B, J, X>, "contract: a mesh axis divides a batch axis of one operand and a contracted axis of the other; name the result with os::einsum to authorise an all-to-all of the latter to the batch axis (moves (n-1)/n^2 of it)");
};

template <class B, class K, class X>
struct batch_axis_meets_outer_axis {
  static_assert(never<B, K, X>, "contract: a mesh axis divides a batch axis of one operand and an outer axis of the other; name the result with os::einsum to authorise an all-to-all of the latter to the batch axis (moves (n-1)/n^2 of it)");
};

template <class I, class J, class X>
struct outer_axis_meets_contracted_axis {
  static_assert(never<I, J, X>, "contract: a mesh axis divides an outer axis of one operand and a contracted axis of the other; name the result with os::einsum to authorise an all-gather of the latter (moves (n-1)/n of it), or an all-to-all of the former to the contracted axis (moves (n-1)/n^2 of it) and a reduction of the result");
};

template <class I, class K, class X>
struct outer_axes_meet {
  static_assert(never<I, K, X>, "contract: a mesh axis divides an outer axis of both operands, so that a device would hold only the diagonal blocks; name the result with os::einsum to authorise an all-gather of either operand (moves (n-1)/n of it), or an all-to-all of both to a contracted axis (moves (n-1)/n^2 of each) and a reduction of the result");
};

template <class X, class B>
struct partial_meets_batch_axis {
  static_assert(never<X, B>, "contract: one operand is partial over a mesh axis that divides a batch axis of the other; name the result with os::einsum to authorise a reduce-scatter of the former onto the batch axis (moves (n-1)/n of it)");
};

template <class X, class J>
struct partial_meets_contracted_axis {
  static_assert(never<X, J>, "contract: one operand is partial over a mesh axis that divides a contracted axis of the other; name the result with os::einsum to authorise a reduce-scatter of the former onto the contracted axis (moves (n-1)/n of it) and a reduction of the result");
};

template <class X, class K>
struct partial_meets_outer_axis {
  static_assert(never<X, K>, "contract: one operand is partial over a mesh axis that divides an outer axis of the other; name the result with os::einsum to authorise an all-reduce of the former (moves 2(n-1)/n of it), or its reduce-scatter and an all-to-all of the latter, both onto a contracted axis");
};

template <class X>
struct partial_meets_partial {
  static_assert(never<X>, "contract: at most one operand is partial over a mesh axis, because a product of sums is not the sum of the products; name the result with os::einsum to authorise an all-reduce of one operand (moves 2(n-1)/n of it) or a reduce-scatter of both onto a common axis (moves (n-1)/n of each)");
};

template <class X, class... Axes>
struct result_would_be_partial {
  static_assert(never<X, Axes...>, "contract: the result would be partial over a mesh axis, and a partial result is given only when it is asked for; name the result with os::einsum, with os::partial to defer the reduction, without it to authorise an all-reduce (moves 2(n-1)/n of the result) or a reduce-scatter (moves (n-1)/n)");
};

}  // namespace ostraka::reason
