// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The list of everything that can be wrong: one type a rule, named after it, with the culprits as arguments.
/// A reason says its sentence (operation: rule; remedy) when it is completed, so that queries can name it without
/// failing. X and Y are mesh axes, B a batch axis (in both operands and the result), J a contracted one (in both, not
/// in the result), I and K outer ones (in one operand and the result). Costs are per device, n devices along the mesh
/// axis, |T| the bytes of T as divided by the other mesh axes. See docs/errors.md for each with a compiler's output.

namespace ostraka {

namespace detail {

/// What a check returns: the reason that it found, not completed, so that a query may look at it.
template <class Reason>
struct found {
  using type = Reason;
};

}  // namespace detail

/// A tensor has at most this many axes (the rank of a Kokkos::View).
inline constexpr int max_rank = 8;

namespace reason {

/// Nothing is wrong.
struct ok {};

/// Completes `Reason`, which prints its sentence. In an alias rather than an expression, for which clang would complain
/// again, about an expression that is not constant.
template <class Reason>
constexpr void raise() {
  using completed [[maybe_unused]] = char[sizeof(Reason)];
}

/// Is nothing wrong? Else the reason prints its sentence, and an operation goes on with something harmless:
/// `if constexpr (reason::ok_or_raise<verdict>())`.
template <class Verdict>
constexpr bool ok_or_raise() {
  raise<Verdict>();
  return false;
}
template <>
constexpr bool ok_or_raise<ok>() {
  return true;
}

template <class... Culprits>
inline constexpr bool never = false;

// ---- a sharding by itself -------------------------------------------------------------------------------------------

template <long long Extent>
struct negative_extent {
  static_assert(Extent > 0, "axis: an extent is not negative, and a mesh axis has at least one device; leave out an extent that is known only when the program runs");
};

template <class Given>
struct extent_is_not_whole {
  static_assert(
      never<Given>,
      "axis: an extent is a whole number, or about how large the axis will be; write OSTRAKA_AXIS(I, 512) or OSTRAKA_AXIS(I, os::about(512))");
};

template <class... MeshAxes>
struct partial_over_nothing {
  static_assert(never<MeshAxes...>, "partial: a partial tensor names the mesh axes that hold its summands; write os::partial(X), or drop it");
};

template <class Axis, class Divisor>
struct not_a_mesh_axis {
  static_assert(never<Axis, Divisor>, "sharding: an axis is divided over mesh axes only; declare the divisor with OSTRAKA_MESH_AXIS");
};

template <class MeshAxis, class Other>
struct axis_comes_first {
  static_assert(never<MeshAxis, Other>, "sharding: an axis is divided over a mesh axis, not the other way round; write the axis first, as in I/X");
};

template <class Entry>
struct not_a_dimension {
  static_assert(never<Entry>, "sharding: the dimensions of a tensor are axes (I), divided axes (I/X) and os::partial(X); declare axes with OSTRAKA_AXIS");
};

template <class Axis>
struct axis_used_twice {
  static_assert(never<Axis>, "sharding: an axis occurs in a tensor at most once; give the second one a name of its own, as os::rename does");
};

template <class MeshAxis, class FirstUse, class SecondUse>
struct mesh_axis_used_twice {
  static_assert(never<MeshAxis, FirstUse, SecondUse>, "sharding: a mesh axis is used by a tensor at most once, to divide one axis or to hold partial sums; drop one of the two uses or use another mesh axis");
};

template <class First, class Second>
struct partial_in_two_ways {
  static_assert(never<First, Second>, "sharding: a tensor is partial in one way only, because a maximum of sums is not the sum of the maxima; reduce it over the mesh axes of one of them first");
};

template <int Rank>
struct too_many_axes {
  static_assert(Rank < 0, "sharding: a tensor has at most eight axes, the rank of a Kokkos::View; merge axes that are never named alone");
};

template <class Axis>
struct rule_given_twice {
  static_assert(never<Axis>, "rules: an axis has one rule; drop one of the two (an axis over several mesh axes is one rule, batch/X/Y)");
};

template <class Entry>
struct rule_divides_nothing {
  static_assert(never<Entry>, "rules: a rule is a divided axis (batch/X), and an axis without a rule is not divided; write the rule so, or leave it out");
};

// ---- making a tensor ------------------------------------------------------------------------------------------------

template <class MeshAxis, class Mesh>
struct unknown_mesh_axis {
  static_assert(never<MeshAxis, Mesh>, "mesh: the tensor is divided over a mesh axis that the mesh does not have; add it to os::make_mesh (size 1 costs nothing) or drop it from the sharding");
};

template <class Element>
struct element_type_unsupported {
  static_assert(never<Element>, "tensor: elements are float, double, Kokkos::complex of both, os::float16, os::bfloat16, std::int32_t or std::int64_t; choose one of them");
};

template <class Element>
struct elements_are_constant {
  static_assert(never<Element>, "tensor: of constant elements, as those of a constant view are, a tensor is read only; write to one of your own, as os::copy(A) gives it");
};

template <class First>
struct mesh_comes_first {
  static_assert(never<First>, "tensor: the mesh comes first, and behind it the extents; write os::zeros<float, I/X>(mesh, I = 8)");
};

template <class... Arguments>
struct element_type_comes_first {
  static_assert(never<Arguments...>, "tensor: the element type comes before the dimensions; write os::zeros<float, I/X>(mesh, I = 8)");
};

template <class... Given>
struct mesh_size_without_a_name {
  static_assert(never<Given...>, "make_mesh: the size of a mesh axis is given by name; write os::make_mesh(X = 2, Y = 4)");
};

template <class Axis>
struct missing_extent {
  static_assert(never<Axis>, "sizes: an axis or mesh axis has no static extent and none was given; pass it by name, as in I = 1024");
};

template <class Axis>
struct extent_given_twice {
  static_assert(never<Axis>, "sizes: an extent is given once; drop one of the two");
};

template <class Given>
struct extent_without_a_name {
  static_assert(never<Given>, "sizes: an extent is given by name; write I = 1024, or pass an os::sizes");
};

template <class Axis>
struct extent_of_foreign_axis {
  static_assert(never<Axis>, "sizes: an extent is given for an axis that the tensor does not have; drop it, or collect the program's extents in an os::sizes, of which each tensor takes its own");
};

template <class Last>
struct function_comes_last {
  static_assert(never<Last>, "generate: the function comes last, behind the extents, and is called with the indices of an element; write os::generate<float, I/X>(mesh, I = 8, f)");
};

template <class Last, class Element>
struct value_comes_last {
  static_assert(never<Last, Element>, "full: the value comes last, behind the extents, and is a number of the elements' kind: a whole one for integers, a real one for float and double; write os::full<float, I/X>(mesh, I = 8, 2.5)");
};

template <class Last, class Tensor>
struct whole_array_comes_last {
  static_assert(never<Last, Tensor>, "scatter_from_root: the whole array comes last, behind the extents: a Kokkos::View of the tensor's element type with a dimension for each axis, or a row-major std::span or std::vector of that type; write os::scatter_from_root<float, I/X, J>(mesh, I = 8, J = 4, view)");
};

template <class Last>
struct view_comes_last {
  static_assert(never<Last>, "from_local: the view of this device's block comes last, behind the extents; write os::from_local<float, I/X>(mesh, I = 8, view)");
};

template <class Given, class Tensor>
struct not_a_block {
  static_assert(never<Given, Tensor>, "from_local: a block is a Kokkos::View of the tensor's element type, in its memory, with a dimension for each axis, or a std::span or std::vector of such elements; give one of these, and convert elements behind it with os::cast");
};

template <class Given>
struct block_is_temporary {
  static_assert(never<Given>, "from_local: the tensor uses the elements where they are, and these would be gone at the end of the statement; give the array a name, and let it outlive the tensor");
};

template <class From, class To>
struct static_extent_mismatch {
  static_assert(never<From, To>, "rename, relabel: axes that stand for each other have the same extent, and their static extents differ; choose axes of one extent or without a static one");
};

template <int Labels, int Axes>
struct wrong_number_of_labels {
  static_assert(Labels < 0, "relabel: each axis of the tensor gets one label, in the order of the axes; give as many labels as the tensor has axes");
};

template <class Given>
struct not_a_label {
  static_assert(never<Given>, "relabel: a label is an axis, and its division is that of the axis that it stands for; write I rather than I/X");
};

// ---- einsum ---------------------------------------------------------------------------------------------------------

template <class Axis>
struct result_axis_in_no_operand {
  static_assert(never<Axis>, "result: each axis of the result is an axis of an operand; drop it from the result or use an operand that has it");
};

template <class Argument>
struct not_an_operand {
  static_assert(never<Argument>, "einsum: the arguments are tensors, and behind them perhaps one policy, such as os::gather_left, and in einsum_into os::alpha = 2 and os::beta = 1; drop what is none of these");
};

template <class Verb>
struct verb_is_no_policy {
  static_assert(never<Verb>, "policy: a verb such as os::all_gather<X> moves one tensor, and is no policy for an operation on others; apply it to its tensor, as in os::einsum<I, K>(os::all_gather<X>(A), B), or give a policy, such as os::gather_left or os::reduce_result");
};

template <int Operands>
struct too_many_operands {
  static_assert(Operands < 0, "operation: at most eight tensors are taken at a time; take some of them together first");
};

template <class Factor>
struct factor_given_twice {
  static_assert(never<Factor>, "einsum_into: alpha and beta are given at most once each; drop one of the two");
};

template <class Number, class Element>
struct number_of_another_kind {
  static_assert(never<Number, Element>, "number: what meets elements is of their kind, a whole number for integers, a real one for float, double and 16-bit elements; give such a number, or convert the tensor first, as in os::cast<double>(A)");
};

template <int Axes>
struct too_many_labels {
  static_assert(Axes < 0, "operation: all tensors of one operation together have at most sixteen different axes; take some of them together first, or rename axes that mean the same");
};

template <int MeshAxes>
struct too_many_mesh_axes {
  static_assert(MeshAxes < 0, "operation: all tensors of one operation together name at most six mesh axes; reshard some of them first");
};

template <class... Operands>
struct product_of_too_many_axes {
  static_assert(never<Operands...>, "einsum: in every order of the products there is one with more than eight axes, the most that a tensor can have; multiply some of the operands first, so that axes are summed early");
};

template <class Policy, int Operands>
struct policy_is_for_two_operands {
  static_assert(Operands < 0, "einsum: os::gather_left, os::gather_right and os::reduce_result speak of two operands; multiply these two by themselves, or bound what is moved with os::at_most or os::no_communication");
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
  static_assert(Bytes <= Limit, "policy: os::within<bytes>() is the workspace that each device may take at most, and every plan takes more in any passes over a label: the least (first number) is above the limit (second number); raise the limit, or name shardings that gather less (os::describe(os::plan<I, K>(A, B)) shows the steps)");
};

template <class Policy>
struct policy_not_for_reshard {
  static_assert(never<Policy>, "reshard: one tensor is moved by the cheapest plan, and the policies for that are os::no_communication, os::at_most<bytes> and os::within(bytes); drop the policy, or use the verb that is the move (os::all_gather, os::all_reduce, ...)");
};

// ---- contract: each cell of the table of two operands that needs communication --------------------------------------

template <class Axis>
struct contracted_axis_in_no_operand {
  static_assert(never<Axis>, "contract: a contracted axis is an axis of an operand; drop it from the list");
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

// ---- one tensor -----------------------------------------------------------------------------------------------------

template <class First, class Second>
struct policy_comes_last {
  static_assert(never<First, Second>, "operation: reductions and reshards take one tensor, and behind it perhaps one policy; write os::sum<I>(A, os::no_communication), and let several tensors meet in os::einsum or os::map");
};

template <class From, class To>
struct reshard_changes_axes {
  static_assert(never<From, To>, "reshard: source and target have the same axes in the same order; use os::einsum to transpose or reduce, os::rename to rename");
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
struct all_gather_is_not_from_the_minor_end {
  static_assert(never<X, Sharding>, "all_gather: a mesh axis is gathered only from the minor end of its axis (Y before X in I/X/Y), else blocks change places; gather the minor ones too or use os::reshard");
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
  static_assert(never<Target>, "verb: os::slice, os::reduce_scatter and os::all_to_all are told an axis and the mesh axes that it is to be divided over; write I/X, or use os::reshard");
};

template <class Sharding>
struct not_a_scalar {
  static_assert(never<Sharding>, "value: a tensor without axes holds one number; reduce the others first, as in os::sum<>(A), or read A.local()");
};

template <class Axis, class Sharding>
struct axis_missing {
  static_assert(never<Axis, Sharding>, "tensor: the axis asked for is an axis of the tensor; name one that it has");
};

// ---- several tensors, element by element ----------------------------------------------------------------------------

template <class X, class Operation>
struct partial_in_nonlinear_operation {
  static_assert(never<X, Operation>, "partial: the operation wants values, and a partial tensor holds parts of them (of summands, f(a) + f(b) is not f(a + b)); reduce it first with os::all_reduce or os::reduce_scatter, or, where an os::map of yours keeps such parts, say so in os::preserves");
};

template <class X>
struct partial_plus_replicated {
  static_assert(never<X>, "partial: summands are added, and factors multiplied, only with tensors that are partial over the same mesh axes, else the other operand would be counted once a device; reduce the partial one first, or ask for the other as a partial result");
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
  static_assert(never<Axis, LeftOver, RightOver>, "map: an axis that several tensors share is divided alike in all of them, or in one of them over the first mesh axes only (the rest is a free slice); reshard one of them first");
};

template <class MeshAxis, class FirstAxis, class SecondAxis>
struct mesh_axis_on_two_axes {
  static_assert(never<MeshAxis, FirstAxis, SecondAxis>, "map: a mesh axis divides the same axis in all tensors; reshard one of them first");
};

template <class... Operands>
struct operator_on_tensor {
  static_assert(
      never<Operands...>,
      "operator: tensors have none, because A * B does not say which axes are summed, repeated or divided; write os::einsum<I/X, K>(A, B) or os::contract<J>(A, B), element by element os::add(A, B), os::subtract, os::multiply or os::divide, where one of the two may be a number, and in place os::map_into(A, f, A, B)");
};

template <class... Arguments>
struct function_comes_first {
  static_assert(never<Arguments...>, "map: the function comes before the tensors whose elements it is given, and in map_into behind the one that it writes to; write os::map(f, A, B) or os::map_into(C, f, A, B)");
};

template <class Element, class Operation>
struct elements_have_no_order {
  static_assert(never<Element, Operation>, "reduction: complex numbers have no maximum and no minimum; reduce a real-valued os::map of them, such as their modulus");
};

template <class Element, class Operation>
struct elements_are_no_bits {
  static_assert(never<Element, Operation>, "reduction: only integers are combined bit by bit (0 and 1 are false and true); compare the elements first, as in os::map(is_positive, A), whose result holds integers");
};

template <class Partial, class Operation>
struct partial_of_another_kind {
  static_assert(never<Partial, Operation>, "reduction: sums, os::einsum among them, keep and make partial sums only, maxima partial maxima, and so on, because a maximum of sums is not the sum of the maxima; reduce the operand first with os::all_reduce or os::reduce_scatter, and ask for a partial result of the operation's own kind");
};

template <class From, class To>
struct cast_drops_imaginary_part {
  static_assert(never<From, To>, "cast: a complex number is not a real one; take its real part, or its modulus, with os::map");
};

template <class Element>
struct mean_of_integers {
  static_assert(never<Element>, "mean: the mean of integers is not an integer; convert them first, as in os::cast<double>(A), or divide os::sum as you want it rounded");
};

}  // namespace reason
}  // namespace ostraka
