// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons about types: shardings that are invalid by themselves, and tensors that cannot be made.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

// ---- a sharding by itself -------------------------------------------------------------------------------------------

template <long long Extent>
struct negative_extent {
  static_assert(Extent > 0, "axis: an extent is not negative, and a mesh axis has at least one device; leave out an extent that is known only when the program runs");
};

template <class Given>
struct extent_is_not_whole {
  static_assert(
      never<Given>,
      "axis: an extent is a whole number or an estimate of it; write OSTRAKA_AXIS(I, 512) or OSTRAKA_AXIS(I, os::about(512))");
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

template <class Number, class MeshAxis>
struct number_is_not_divided {
  static_assert(never<Number, MeshAxis>, "sharding: a mesh axis divides an axis, and here a number stands before the /; rename the local variable or parameter that hides the axis of the same name");
};

template <class Entry>
struct not_a_dimension {
  static_assert(never<Entry>, "sharding: the dimensions of a tensor are axes (I), divided axes (I/X) and os::partial(X); declare axes with OSTRAKA_AXIS, and if this is a number, rename the local variable that hides the axis of the same name");
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
  static_assert(never<Element>, "tensor: elements are float, double, Kokkos::complex of both, os::float16, os::bfloat16, bool, or std::int8_t to std::int64_t; choose one of them");
};

template <class Element>
struct elements_are_constant {
  static_assert(never<Element>, "tensor: a tensor of constant elements, such as those of a constant view, is read-only; write to a tensor of your own, such as os::copy(A)");
};

template <class First>
struct mesh_comes_first {
  static_assert(never<First>, "tensor: the mesh comes first, and after it the extents; write os::zeros<float, I/X>(mesh, I = 8)");
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
  static_assert(never<Given>, "sizes: an extent is given by name; write I = 1024, or pass an os::sizes (and if I is a local variable, which hides the axis, rename the variable)");
};

template <class Axis>
struct extent_of_foreign_axis {
  static_assert(never<Axis>, "sizes: an extent is given for an axis that the tensor does not have; drop it, or collect the program's extents in an os::sizes, from which each tensor takes its own");
};

template <class Last>
struct function_comes_last {
  static_assert(never<Last>, "generate: the function comes last, after the extents, and is called with the indices of an element; write os::generate<float, I/X>(mesh, I = 8, f)");
};

template <class Last, class Element>
struct value_comes_last {
  static_assert(never<Last, Element>, "full: the value comes last, after the extents, and is a number of the elements' kind: a whole one for integers, a real one for float and double; write os::full<float, I/X>(mesh, I = 8, 2.5)");
};

template <class Last, class Tensor>
struct whole_array_comes_last {
  static_assert(never<Last, Tensor>, "scatter_from_root: the whole array comes last, after the extents: a Kokkos::View or an mdspan of the tensor's element type with a dimension for each axis, a row-major std::span or std::vector of that type, or os::strided(pointer, I = 4, J = 1); write os::scatter_from_root<float, I/X, J>(mesh, I = 8, J = 4, view)");
};

template <class Last>
struct view_comes_last {
  static_assert(never<Last>, "from_local, copy_from_local: the view of this device's block comes last, after the extents; write os::from_local<float, I/X>(mesh, I = 8, view)");
};

template <class Given, class Tensor>
struct not_a_block {
  static_assert(never<Given, Tensor>, "from_local: a block is a Kokkos::View or an mdspan of the tensor's element type, in its memory, with a dimension for each axis, a std::span or std::vector of such elements, or os::strided(pointer, I = 8, J = 1); give one of these, copy from other memory with os::copy_from_local, and convert elements afterwards with os::cast");
};

template <class Given>
struct block_is_temporary {
  static_assert(never<Given>, "from_local: the tensor uses the elements where they are, and these would be gone at the end of the statement; give the array a name, and let it outlive the tensor");
};

template <class Position>
struct block_begins_elsewhere {
  static_assert(never<Position>, "from_local: a tensor's block begins where the block distribution says, so os::at has no place here; leave it out, copy the array with os::copy_from_blocks (foreign_blocks.hpp), or adopt an array with ghost layers, os::halo<I, 1>/X, which may begin anywhere");
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

}  // namespace ostraka::reason
