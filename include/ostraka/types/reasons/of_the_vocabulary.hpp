// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons about the operations in ostraka/operations/.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

// ---- the axis that an operation names -------------------------------------------------------------------------------

template <class Dim, class Operation>
struct not_an_axis {
  static_assert(never<Dim, Operation>, "operation: it takes an axis the way the tensor divides it; write I, or I/X where X divides it");
};

template <class Axis, class Operation, class... MeshAxes>
struct axis_is_divided {
  static_assert(never<Axis, Operation, MeshAxes...>, "operation: the axis is divided over a mesh axis, so the operation communicates, and nothing moves unless it is named; write I/X for the axis to authorise it (what moves is in docs/operations.md), or gather the axis first with os::all_gather");
};

template <class Dim, class Sharding, class Operation>
struct axis_sharding_mismatch {
  static_assert(never<Dim, Sharding, Operation>, "operation: the axis is named the way the tensor divides it; write I where nothing divides it, I/X where X does, or os::reshard the tensor first");
};

// ---- element by element ---------------------------------------------------------------------------------------------

template <class Element, class Function>
struct function_undefined_for_elements {
  static_assert(
      never<Element, Function>,
      "function: it is not defined for such elements (docs/operations.md says for which); convert integers and bools to numbers with a fraction, as in os::cast<float>(A), and of complex numbers take the modulus with os::abs, or a part with os::real or os::imag");
};

// ---- softmax and norms ----------------------------------------------------------------------------------------------

template <class Other, class Sharding, class Operation>
struct row_operand_sharding_mismatch {
  static_assert(never<Other, Sharding, Operation>, "operation: a mask has some of the tensor's axes, labels some of those without the axis, a gain or bias the axis alone, each divided as in the tensor or not at all; os::reshard it first");
};

template <class T, class Operation>
struct mask_is_not_true_or_false {
  static_assert(never<T, Operation>, "operation: a mask is bool, or an integer that is not 0 where an element counts; compare first");
};

// ---- indices --------------------------------------------------------------------------------------------------------

template <class T, class Operation>
struct index_is_not_an_integer {
  static_assert(never<T, Operation>, "operation: indices are whole numbers; make the index tensor of std::int32_t or std::int64_t, or os::cast it");
};

template <class Axis, class Operation>
struct index_has_the_axis {
  static_assert(never<Axis, Operation>, "operation: an index tensor lacks the axis that its numbers point into; rename the axis of the index with os::rename");
};

template <class Axis, class Operation>
struct rows_have_the_axis {
  static_assert(never<Axis, Operation>, "operation: the rows that are added lack the axis that the indices point into; rename the axis of the rows with os::rename");
};

template <class Axis, class Operation>
struct index_axis_not_in_rows {
  static_assert(never<Axis, Operation>, "operation: every index belongs to a row, so the rows have all axes of the index; broadcast the rows along the axis, or leave it out of the index");
};

template <class Axis, class Operation>
struct indexed_axis_not_in_result {
  static_assert(never<Axis, Operation>, "scatter_add: the result has the axis that the indices point into; name it among the result's dimensions, as in os::scatter_add<V, V/X, D>(rows, index, V = 100)");
};

template <class Row, class Wanted, class Axis>
struct row_sharding_mismatch {
  static_assert(never<Row, Wanted, Axis>, "write_at: nothing moves, so a row is divided as the tensor is, without the axis that it is written along or with that axis whole; os::reshard the row first");
};

template <class Sharding>
struct iota_has_one_axis {
  static_assert(never<Sharding>, "iota, random_permutation: numbers are counted along one axis; name one, and combine it with tensors of more axes in os::map or os::broadcast");
};

template <class Sharding>
struct triangle_has_two_axes {
  static_assert(never<Sharding>, "lower_triangle, upper_triangle: a triangle has rows and columns; name two axes, and combine it with tensors of more axes in os::map");
};

template <class T, class Operation>
struct not_of_this_distribution {
  static_assert(never<T, Operation>, "random numbers: os::uniform and os::bernoulli are for all elements, os::normal and os::dropout for floating-point and complex numbers, os::truncated_normal and the weights of os::lecun_normal and the like for floating-point numbers; choose other elements");
};

template <class Option, class Operation>
struct not_an_option {
  static_assert(
      never<Option, Operation>,
      "operation: it does not read this option, which would silently be ignored; docs/operations.md says which ones it reads");
};

template <class Operation>
struct seed_not_given {
  static_assert(never<Operation>, "sample: a token is drawn at random, and without a seed each call would draw the same one; give an os::seed after the logits, another one for each position, as in os::fold_in(os::seed(1), position)");
};

template <class Operation>
struct fan_not_given {
  static_assert(never<Operation>, "weights: their spread depends on how many products are summed; name the axes that are summed, as in os::fan_in(D), and for os::glorot_normal and os::glorot_uniform those that remain, as in os::fan_out(F)");
};

template <class Axis, class Operation>
struct result_lacks_axis {
  static_assert(never<Axis, Operation>, "operation: nothing is summed over an axis that only the rows have; name it in the result, or os::sum over it");
};

template <class Axis, class Operation, class... MeshAxes>
struct indexed_axis_is_divided {
  static_assert(never<Axis, Operation, MeshAxes...>, "operation: each device has a part of the axis that the indices point into, so the results are summands, and nothing moves unless the result is named; name its axes, as in os::take<V, I, D>(table, index)");
};

template <class Index, class Table, class Operation>
struct index_meets_divided_table {
  static_assert(never<Index, Table, Operation>, "operation: index and table are divided over the same mesh axis, so indices move, and nothing moves unless the result is named; name its axes, as in os::take<V, I, D>(table, index)");
};

// ---- shape: split, merge, rearrangements ----------------------------------------------------------------------------

template <class Product, class Major, class Minor, class Operation>
struct extents_do_not_multiply {
  static_assert(never<Product, Major, Minor, Operation>, "split, merge: the extent of the merged axis is the product of the extents of its two parts, and the static extents are no such product; declare axes whose extents multiply, or leave one without a static extent");
};

template <class Major, class Minor, class Operation, auto Extent, auto Ways>
struct major_axis_is_divided_unevenly {
  static_assert(never<Major, Minor, Operation>, "split, merge: blocks of the merged axis hold whole indices of the major one, and the mesh axes do not divide its extent evenly; choose mesh axes whose sizes divide it, or gather the axis first with os::all_gather");
};

template <class Minor, class Sharding>
struct minor_axis_is_divided {
  static_assert(never<Minor, Sharding>, "merge: only the major of two axes is divided, because a device's part of the minor one is a piece of every index of the major one; divide the major axis, or gather the minor one first with os::all_gather");
};

template <class Major, class Minor, class Sharding>
struct merged_axes_not_adjacent {
  static_assert(never<Major, Minor, Sharding>, "merge: the minor axis comes directly after the major one, because nothing is copied; put the axes in that order first with os::transpose");
};

template <class Axis, class Sharding>
struct transpose_leaves_out {
  static_assert(never<Axis, Sharding>, "transpose: it names all axes of the tensor, in their new order; name this one too, or os::sum over it");
};

template <class Sharding, class Result>
struct broadcast_sharding_mismatch {
  static_assert(never<Sharding, Result>, "broadcast, stack: the tensor's axes are divided in the result as in the tensor, and the result is partial where the tensor is; name them so, and os::reshard before or after");
};

template <class Axis, class Operation>
struct static_extent_would_change {
  static_assert(never<Axis, Operation>, "operation: it changes the extent of the axis, which is part of the axis' type; rename it first to an axis without a static extent, os::rename<D, K>(A)");
};

template <class Sharding, class Other, class Operation>
struct operands_sharded_differently {
  static_assert(never<Sharding, Other, Operation>, "operation: the operands have the same axes in one order, divided alike; os::reshard or os::transpose one of them first");
};

// ---- attention ------------------------------------------------------------------------------------------------------

template <class T, class Operation>
struct elements_are_not_floating_point {
  static_assert(never<T, Operation>, "operation: its result is not a whole number, so its elements are float, double, os::float16 or os::bfloat16; os::cast<float> them first");
};

template <class Axis, auto Extent>
struct pair_extent_is_not_two {
  static_assert(never<Axis>, "rope: pairs are along an axis of extent 2; os::split the head's width into frequencies and an axis of 2");
};

template <class Axis, class Sharding>
struct pair_is_divided {
  static_assert(never<Axis, Sharding>, "rope: both numbers of a pair are on one device, but a mesh axis divides the axis of pairs; divide frequencies, heads or positions instead, or gather it with os::all_gather");
};

template <class Positions, class Sharding>
struct positions_sharding_mismatch {
  static_assert(never<Positions, Sharding>, "rope: positions are along axes of the operand other than those of frequencies and pairs, and divided as the operand is or whole; os::reshard them");
};

template <class Option>
struct not_an_option_of_rope {
  static_assert(never<Option>, "rope: after the tensor come an integer tensor of positions or os::striped<X>, os::from_position(t), and a tensor of frequencies, or os::rope_base(b) and os::rope_scaling");
};

template <class Frequencies, class Sharding>
struct frequencies_sharding_mismatch {
  static_assert(never<Frequencies, Sharding>, "rope: frequencies are along the axis of frequencies alone, and divided as the operand is or whole; os::reshard them");
};

template <class Operation>
struct frequencies_are_given_twice {
  static_assert(never<Operation>, "rope: a tensor of frequencies gives all of them, and os::rope_base and os::rope_scaling would be ignored; leave out one or the other");
};

template <class Operation>
struct extra_tensor_after_operands {
  static_assert(never<Operation>, "operation: after the operands comes one tensor of a kind, positions and frequencies of os::rope or the mask of an attention, and a second one would be ignored; combine the two, masks as A && B");
};

template <class Operation>
struct position_without_causal {
  static_assert(never<Operation>, "attention: os::from_position(t) gives os::causal the position of the first query, and nothing else reads it; give os::causal too, or leave the position out");
};

template <class Axis, class Sharding>
struct attention_lacks_axis {
  static_assert(never<Axis, Sharding>, "attention: attention<Q, K, D>(q, k, v): queries have the axes Q and D, keys K and D, values K, and one of them lacks such an axis; name axes that they have, or give the positions of keys and values a name of their own, os::rename<S, K>(k)");
};

template <class Queries, class Keys, class Values>
struct queries_and_keys_are_confused {
  static_assert(never<Queries, Keys, Values>, "attention: attention<Q, K, D>(q, k, v): Q is an axis of the queries alone, K of keys and values alone, D of queries and keys, and other axes of keys are axes of queries; os::rename<S, K>(k) gives the positions of keys a name of their own");
};

template <class MeshAxis, class Queries, class Keys>
struct keys_are_divided_as_queries {
  static_assert(never<MeshAxis, Queries, Keys>, "attention: a mesh axis divides keys and, along another axis, queries, so they do not meet; pass keys and values round a ring, with os::ring after the operands, or gather them first, os::all_gather<X>(k)");
};

template <class Option>
struct not_an_option_of_attention {
  static_assert(never<Option>, "attention: after queries, keys and values come a mask, os::causal, os::from_position(t), os::score_scale(s), os::striped<X>, os::window(w), os::segments(q_ids, k_ids), os::soft_cap(c), os::bias(b), os::alibi(slopes), os::sinks(logits), os::from_positions(t), os::pages<P>(table), or os::ring (of <ostraka/operations.hpp>)");
};

template <class Rows, class Operation>
struct pages_sharding_mismatch {
  static_assert(never<Rows, Operation>, "operation: positions of rows have axes of the batch, a table of pages has these and one more axis, which is whole, and a pool has pages, slots and axes of the rows, divided as in the rows; the width of a head is the last axis of queries, keys and values; os::reshard or os::transpose the operand");
};

template <class Option>
struct not_an_option_of_pages {
  static_assert(never<Option>, "attention: os::pages<P>(table) takes os::causal, os::from_positions(t), os::window(w), os::score_scale(s) and os::in_range beside it, and each query reads its own pages; leave the option out, or keep keys and values in a cache with one axis of positions");
};

template <class Operation>
struct pages_without_positions {
  static_assert(never<Operation>, "attention: a query reads the pages up to its own position; give os::causal and os::from_positions(t) with os::pages<P>(table)");
};

template <class Operation>
struct option_is_given_twice {
  static_assert(never<Operation>, "attention: each option follows the operands once, and a second one of its kind would be ignored; combine the two, masks as A && B and biases as A + B");
};

template <class Other, class Scores, class Operation>
struct score_operand_sharding_mismatch {
  static_assert(never<Other, Scores, Operation>, "attention: a bias has some axes of the scores, sinks and slopes some of those without Q and K, numbers of documents some of those without K for queries and without Q for keys, positions of rows some of those without Q and K, each divided as in the scores or not at all; os::reshard it first");
};

template <class Slopes>
struct slopes_are_constant {
  static_assert(never<Slopes>, "attention: the slopes of os::alibi have no derivative; pass os::stop_gradient(slopes), or a learned os::bias");
};

// ---- sort, top_k ----------------------------------------------------------------------------------------------------

template <class Axis, class Sharding, class Operation>
struct axis_must_be_whole {
  static_assert(never<Axis, Sharding, Operation>, "operation: it works along an axis that is whole on every device, and mesh axes divide this one; gather it first with os::all_gather, or let them divide another axis with os::all_to_all");
};

template <class Axis, class Sharding, class Operation>
struct new_axis_already_exists {
  static_assert(never<Axis, Sharding, Operation>, "operation: the axis that it makes is not yet an axis of the tensor; choose another one, or os::rename that axis first");
};

// ---- fft ------------------------------------------------------------------------------------------------------------

template <class T, class Operation>
struct not_transformed {
  static_assert(never<T, Operation>, "operation: fft and ifft take float, double and complex numbers of these, rfft takes real ones and irfft complex ones; os::cast the elements, or call the transform for these");
};

template <class Sharding, class Named, class Operation>
struct transform_axes_mismatch {
  static_assert(never<Sharding, Named, Operation>, "operation: the axis that is transformed is followed by the axis that it becomes, and os::dims of several axes by as many in the same order, alone or with all other axes of the tensor in any order; name these");
};

template <class Axis, class Result, class Operation>
struct spectrum_extent_mismatch {
  static_assert(never<Axis, Result, Operation>, "operation: n numbers have a spectrum of n, real ones one of n/2 + 1, and the static extents of the two axes differ from these; name axes of these extents, or without a static one");
};

// ---- segment_sum ----------------------------------------------------------------------------------------------------

template <class Axis, class Segments, class Data, class Ids>
struct segments_are_on_several_devices {
  static_assert(never<Axis, Segments, Data, Ids>, "segment_sum: nothing moves unless the result is named, and the rows of a segment are on several devices here; name the result to authorise the reduction, as segment_sum<I, S, S/X, D>(data, ids, S = n), or os::partial(X) in it for each device's own sums");
};

template <class Axis, class Segments, class Sharding>
struct summed_axis_in_result {
  static_assert(never<Axis, Segments, Sharding>, "segment_sum: the axis of the segments replaces the axis of the rows; name a result without the latter, as segment_sum<I, S, S, D>(data, ids, S = n)");
};

}  // namespace ostraka::reason
