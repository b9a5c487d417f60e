// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons about the local view: bodies of os::shard_map, their blocks, and the collectives between them.

#include <type_traits>

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

// ---- doors ----------------------------------------------------------------------------------------------------------

template <class Given, class Wanted, long long BytesOfReshard>
struct body_wants_another_sharding {
  static_assert(never<Given, Wanted>, "shard_map: a body takes a tensor only under the sharding that os::in names, order of mesh axes included, because anything else would move it; write os::reshard<I/X, J>(A) with those dimensions (here the second sharding; the number is the bytes that a device receives at planned sizes)");
};

template <class Body, class... Blocks>
struct body_does_not_take_blocks {
  static_assert(never<Body, Blocks...>, "shard_map: this call of the body, with a block for each tensor, does not compile; if another error comes before this one, fix that first, else take `auto`, or the types of the blocks, without manual mesh axes and with os::varying(X), as os::tensor<float, I, J, os::varying(X)> for a tensor divided over X");
};

template <class Given>
struct operand_is_not_a_tensor {
  static_assert(never<Given>, "shard_map: the body comes first, and after it tensors, or a std::array, std::tuple or std::pair of them; numbers and the mesh are captured by the body, as in [n](auto block) { ... }");
};

template <class Axis, class MeshAxis>
struct manual_axis_is_minor {
  static_assert(never<Axis, MeshAxis>, "shard_map: the manual mesh axes of an axis are its major ones, because blocks of I/X/Y along Y alone are not a block of I; make X manual, too, or divide over Y/X");
};

template <class MeshAxis, class Result>
struct result_varies_over {
  static_assert(never<MeshAxis, Result>, "shard_map: a result that does not name a manual mesh axis is the same along it, and this block varies; combine it with os::psum<X>, os::pmax<X>, os::all_gather<I/X>, ..., or name the axis in the result, as in I/X or os::partial(X)");
};

template <class Result, class Wanted>
struct result_has_other_axes {
  static_assert(never<Result, Wanted>, "shard_map: a result has the axes that are named for it, in that order; name the block's own, transpose it with os::einsum<J, I>(A), or rename an axis with os::rename<J, K>(A)");
};

template <class Result, class Wanted>
struct result_divided_differently {
  static_assert(never<Result, Wanted>, "shard_map: a block leaves the body divided over the mesh axes that are not manual as it is inside; name them in the result, or os::reshard the block first");
};

template <class Result>
struct result_is_not_a_tensor {
  static_assert(never<Result>, "shard_map: a body returns a block, or a std::tuple of as many blocks as results are named with os::dims<...>{}; if another error comes before this one, fix that first, else return tensors");
};

template <class Pending>
struct pending_value_leaves {
  static_assert(never<Pending>, "shard_map: an operation in progress belongs to its body; return its result, std::move(p).wait()");
};

template <int Returned, int Named>
struct wrong_number_of_results {
  static_assert(Returned == Named, "shard_map: a body returns as many blocks as results are named; name each with os::dims<...>{}");
};

template <class MeshAxis, class Partial>
struct partial_result_does_not_vary {
  static_assert(never<MeshAxis, Partial>, "shard_map: a result that is partial over a mesh axis is made of blocks that differ along it, because it would otherwise be counted once per device; drop os::partial(X), or os::pvary<X> the block if each device holds a part of its own");
};

template <class MeshAxis, class Divided, class Block>
struct divided_tensor_meets_block {
  static_assert(never<MeshAxis, Divided, Block>, "shard_map: a tensor that is divided over a mesh axis, or partial, does not meet a block that varies along it, because its own block is hidden; pass it to os::shard_map as an operand, or os::reshard it first to be whole along that axis");
};

template <class MeshAxis, class Result>
struct manual_axis_divides_result {
  static_assert(never<MeshAxis, Result>, "shard_map: inside a body a result is each device's own, so manual mesh axes do not divide it; leave them out here, and name them in the result of os::shard_map<I/X, J>(...)");
};

template <class MeshAxis, class Result>
struct divided_tensor_leaves {
  static_assert(never<MeshAxis, Result>, "shard_map: a result is a block of the body, and this tensor is divided over a manual mesh axis or partial; return blocks only, since this tensor can be used outside of the body");
};

template <class MeshAxis, class Operation>
struct block_is_not_a_tensor {
  static_assert(never<MeshAxis, Operation>, "shard_map: the operation speaks for all devices, and a block differs along this mesh axis; combine it with os::psum<X>, os::all_gather<I/X>, ..., apply the operation to the result of os::shard_map, or read block.local()");
};

template <class MeshAxis, class From, class To>
struct loop_changes_variance {
  static_assert(never<MeshAxis, From, To>, "assignment: a block that varies along a mesh axis is not assigned to one that does not; let that one vary from the start with os::pvary<X>, or os::varying(X) where it is made, so that a loop keeps one type");
};

template <class MeshAxis, class Target>
struct target_does_not_vary {
  static_assert(never<MeshAxis, Target>, "shard_map: the target varies along the mesh axes along which the operands do; make it with os::varying(X), or combine the operands first with os::psum<X>");
};

// ---- collectives on blocks ------------------------------------------------------------------------------------------

template <class MeshAxis, class Block>
struct reduction_of_invariant_block {
  static_assert(never<MeshAxis, Block>, "reduction: blocks are combined over mesh axes along which they vary, and along this one all devices have the same; drop the mesh axis, multiply a sum by os::axis_size<X>(a), or os::pvary<X> the block first if each device's block is meant to count");
};

template <class MeshAxis, class Block>
struct collective_over_unknown_axis {
  static_assert(never<MeshAxis, Block>, "collective: a block is moved along mesh axes along which it varies; name a manual axis of the body, or os::pvary<X> the block first");
};

template <class Number>
struct varying_number_used_implicitly {
  static_assert(never<Number>, "varying_int: a number that differs from device to device becomes a plain one, or is compared, only by name, because its type then no longer shows that what follows differs too; write i.value(), and call no collective in a branch that depends on it");
};

template <class MeshAxis>
struct shift_varies_along_its_axis {
  static_assert(never<MeshAxis>, "shift: the devices along the mesh axis shift by one number, but this one differs there; give one that varies along other mesh axes only, or name each sender and receiver with os::ppermute");
};

template <class Pending>
struct pending_value_not_moved {
  static_assert(never<Pending>, "wait: a started operation is waited for once, and gives up its result; write std::move(p).wait()");
};

template <class Given>
struct collective_of_a_non_tensor {
  static_assert(never<Given>, "collective: it takes one block of the body, as its first argument; let the body capture numbers, use os::axis_size<X>(a) for the number of devices, and call the collective once for each of several blocks");
};

template <class MeshAxis, class Divided>
struct collective_outside_of_a_body {
  static_assert(never<MeshAxis, Divided>, "collective: it takes blocks, and here the mesh axis divides a tensor, or the tensor is partial over it; call it in the body of os::shard_map with the mesh axis manual, or use os::sum, os::reshard and the like, which take tensors");
};

template <class Axis, class Sharding>
struct part_of_divided_axis {
  static_assert(never<Axis, Sharding>, "part: a part is taken along an axis that is not divided; divide an axis over a mesh axis with os::slice, or use the device's own block in a body of os::shard_map");
};

template <int From, int To>
struct permutation_repeats {
  static_assert(never<std::integral_constant<int, From>>, "ppermute: each device sends to at most one other and receives from at most one, and all of them exist; list each source and each target once (here the first hop that is wrong)");
};

template <class Axis, class Block>
struct split_axis_is_divided {
  static_assert(never<Axis, Block>, "all_to_all: a block is split into equal parts along one axis, which do not nest in its division over further mesh axes; make these manual, too, or concatenate along another axis");
};

template <class Concatenated, class Split>
struct all_to_all_along_two_groups {
  static_assert(never<Concatenated, Split>, "all_to_all: both dimensions name the same mesh axes in the same order, because a device receives parts from the same devices that it sends parts to; write os::all_to_all<I/X, J/X>(a)");
};

template <class Axis, class Block>
struct untiled_axis_already_exists {
  static_assert(never<Axis, Block>, "collective: an untiled result stacks blocks along a new axis; name an axis that the block lacks, or leave out os::untiled");
};

template <class Axis, long long Extent, long long Devices>
struct untiled_extent_is_not_the_axis_size {
  static_assert(Extent == Devices, "collective: an untiled axis has an index for each device, and a block of this static extent does not; leave out os::untiled, or choose an extent that is the number of devices, or this number times the sizes of the other mesh axes that divide the axis");
};

// ---- pipelines ------------------------------------------------------------------------------------------------------

template <class Layers, class Stages>
struct pipeline_needs_stacked_layers {
  static_assert(never<Layers, Stages>, "pipeline: layers are an axis of the parameters, divided over one mesh axis, the stages; write os::pipeline<os::gpipe, L/P, N>, and pass parameters stacked along it, as in os::tensor<float, L/P, D, F>, or their blocks");
};

template <class Axis, class Sharding>
struct pipeline_cuts_leading_axes {
  static_assert(never<Axis, Sharding>, "pipeline: microbatches and layers are cut in place, so the batch comes first among the axes of a tensor that goes through, and repeats and then layers come first among those of a parameter; declare them so, or transpose with os::einsum");
};

template <class MeshAxis, class Sharding>
struct pipeline_divides_the_batch {
  static_assert(never<MeshAxis, Sharding>, "pipeline: over the stages a tensor that goes through is divided along its batch, or not at all, because each stage works on whole microbatches; os::reshard it so");
};

template <class Layers, class Stages>
struct pipeline_goes_forward_only {
  static_assert(never<Layers, Stages>, "pipeline: os::one_forward_one_backward orders a forward and a backward pass, and this is a forward pass; choose os::gpipe, which has the same ticks, or os::circular");
};

template <class MeshAxis, class Sharding>
struct pipeline_loss_is_of_whole_batches {
  static_assert(never<MeshAxis, Sharding>, "pipeline_loss: the first stage reads the input, and the last one the targets and the head, so none of them is divided over the stages; os::reshard them to be whole along that mesh axis");
};

template <class Layers>
struct pipeline_loss_ticks_by_stage {
  static_assert(never<Layers>, "pipeline_loss: a tick covers a whole stage, and os::tick_per_layer has one for each layer; choose os::gpipe, os::circular or os::one_forward_one_backward");
};

// ---- halos ----------------------------------------------------------------------------------------------------------

template <class Entry>
struct not_a_halo_axis {
  static_assert(never<Entry>, "halo: an axis of a tensor is padded, and only once; write os::halo<I, 1>, and the mesh axes after it, as in os::halo<I, 1>/X");
};

template <class Axis, int Width>
struct halo_without_width {
  static_assert(never<Axis>, "halo: a halo is at least one index wide; for no halo name the axis alone");
};

template <class Axis, int Width, long long Extent>
struct halo_wider_than_the_axis {
  static_assert(Width <= Extent, "halo: a halo is at most as wide as its axis, beyond which there are no neighbours; choose a smaller width (the first number), or a longer axis (the second)");
};

template <class Axis, class Padded>
struct halo_meets_operation {
  static_assert(never<Axis, Padded>, "halo: operations on tensors do not take a padded block, because they would count the elements that it copies from its neighbours again on every device; use os::stencil, or take its own part with os::own(a)");
};

template <class Axis, class Padded>
struct halo_leaves {
  static_assert(never<Axis, Padded>, "shard_map: blocks leave without their halos, which are copies of other devices' elements; return os::own(a), or what os::stencil makes of the block");
};

template <class Axis, class... MeshAxes>
struct halo_is_divided {
  static_assert(never<Axis, MeshAxes...>, "halo: a padded axis belongs to a block and is not divided itself; name os::halo<I, 1> without mesh axes here, and with them for os::exchange_halo");
};

template <class Dim>
struct not_a_halo {
  static_assert(never<Dim>, "exchange_halo: each axis to be padded is named with its width and the mesh axes along which its neighbours are; write os::exchange_halo<os::halo<I, 1>/X>(a), or os::halo<I, 1> for an axis that is whole on every device");
};

template <class Option>
struct not_a_halo_option {
  static_assert(never<Option>, "exchange_halo: after the block come os::periodic or os::periodic(I), os::boundary = 2.5 and os::faces, each optional; drop any other argument");
};

template <class Axis, class Block>
struct halo_of_a_divided_axis {
  static_assert(never<Axis, Block>, "exchange_halo: an axis is padded in a body of os::shard_map in which all its mesh axes are manual, and this one is still divided; write the call in such a body, and where the body names os::manual(X, Y), name them all");
};

template <class Target, class Padded>
struct halo_target_mismatch {
  static_assert(never<Target, Padded>, "exchange_halo_into: the target has the axes of the block in the same order, padded where they are named, and the same element type; make it with os::exchange_halo, or os::zeros_like of a padded block");
};

template <class Dim, class Array>
struct halo_division_mismatch {
  static_assert(never<Dim, Array>, "exchange_halo_into: the neighbours of an array with ghost layers are along the mesh axes that divide it, and its halos are as wide as it has them; name os::halo<I, 1>/X as for os::from_local");
};

template <class Operand>
struct stencil_needs_a_halo {
  static_assert(never<Operand>, "stencil: the first tensor is a padded block, whose neighbours the function reads; pad it with os::exchange_halo<os::halo<I, 1>/X>(a), or use os::map, which reads one element of each tensor");
};

template <int Given, int Padded>
struct stencil_step_missing {
  static_assert(Given == Padded, "stencil: the function names one step along each padded axis, in their order; write x(-1, 0) where two axes are padded, and x(0, 0) for the point itself");
};

template <class... Arguments>
struct stencil_arguments_out_of_order {
  static_assert(never<Arguments...>, "stencil: the function comes before the blocks that it reads, and in stencil_into after the block that it writes to; write os::stencil(f, x, c), or os::stencil_into(next, f, x, c)");
};

template <class Number, class Tensor>
struct varying_number_meets_tensor {
  static_assert(never<Number, Tensor>, "varying_int: os::axis_index returns a whole number that differs from device to device, and elements meet numbers of their own kind; write static_cast<float>(i.value()) where the block varies along the same mesh axes, and os::pvary<X>(a) first where it does not");
};

template <class First, class Other>
struct stencil_of_other_axes {
  static_assert(never<First, Other>, "stencil: all blocks have the axes of the first one in its order, padded or not; transpose with os::einsum<I, J>(a), or rename an axis");
};

template <class Block>
struct neighbours_need_a_halo {
  static_assert(never<Block>, "neighbours_of: it takes a padded block, whose neighbours the function reads; pad it with os::exchange_halo<os::halo<I, 1>/X>(a), or pass the block itself, of which the function takes the element at each point");
};

template <class F>
struct nothing_to_sum {
  static_assert(never<F>, "sum_over_points: the function returns what is summed at each point; return it, or call os::for_each_point, which sums nothing");
};

template <class Array>
struct sums_need_an_axis {
  static_assert(never<Array>, "sum_over_points: the function returns an array, so there are several sums, which need an axis; name it, os::sum_over_points<K>(f, x), with as many indices as the array has elements");
};

template <class Value>
struct sums_need_an_array {
  static_assert(never<Value>, "sum_over_points<K>: the axis names several sums, so the function returns a std::array or a Kokkos::Array of numbers; return one, or call os::sum_over_points(f, x) for one sum");
};

template <class Axis, int Elements>
struct sums_of_another_number {
  static_assert(Axis::extent == Elements, "sum_over_points<K>: the axis has an index for each element of the array that the function returns; declare the axis without an extent, or with that one");
};

template <class Block, class... Taps>
struct patches_need_an_axis_each {
  static_assert(never<Block, Taps...>, "patches: the neighbourhood of a point has an axis for each padded one, in their order; write os::patches<M, N>(x) where two axes are padded, and os::patches<M>(x) where one is");
};

template <class Tap, long long Extent, class Padded>
struct patches_of_another_width {
  static_assert(Extent == Padded::before + Padded::behind + 1, "patches: a neighbourhood has as many indices as the halo has at both ends, plus the point's own: 3 for os::halo<I, 1>; declare the axis without an extent, or with that one");
};

}  // namespace ostraka::reason
