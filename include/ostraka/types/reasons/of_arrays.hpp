// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons about arrays of the application: blocks are copied from and to them, and results are written to
/// them.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

template <class Array, class Sharding>
struct array_of_other_axes {
  static_assert(never<Array, Sharding>, "array: os::strided and os::in_order name each axis of the tensor once; write os::strided(pointer, I = 8, J = 1), os::in_order<J, I>(view)");
};

template <class Array, class Tensor>
struct not_an_array_of_the_tensor {
  static_assert(never<Array, Tensor>, "array: this device's block of the tensor that is named is in a Kokkos::View or an mdspan of the tensor's element type with a dimension for each axis, in a std::span or std::vector of such elements, or in os::strided(pointer, I = 8, J = 1), and an operation writes only to the memory that it computes in; give one of these (os::einsum_into<I/X, K>(view, A, B) names the axes), convert elements with os::cast, and copy to other memory with os::copy_to_local");
};

template <class Array, class Tensor>
struct not_an_array_of_foreign_blocks {
  static_assert(never<Array, Tensor>, "copy_from_blocks, copy_to_blocks, plan_blocks: a device's array is a Kokkos::View or an mdspan of the tensor's element type with a dimension for each axis, os::strided(pointer, I = 1, J = 8), or, with one axis, a std::span or std::vector; give one of these, and convert elements with os::cast");
};

template <class... Given>
struct array_without_a_place {
  static_assert(never<Given...>, "copy_from_blocks, copy_to_blocks, plan_blocks: the place of an array comes before it, and both come last; write os::at(I = 4, J = 0), view or os::block_cyclic(I = 64, J = 64), view, and for several arrays a range of os::placed(os::at(I = 4, J = 0), view)");
};

template <class Place, class Sharding>
struct place_of_other_axes {
  static_assert(never<Place, Sharding>, "copy_from_blocks, copy_to_blocks, plan_blocks: os::at and os::block_cyclic name axes of the tensor, and os::block_cyclic each one that its grid divides; write os::at(I = 4, J = 0), os::block_cyclic(I = 64, J = 64), or os::block_cyclic<I/X, J>(I = 64) for a grid of other mesh axes");
};

template <class Array>
struct sizes_of_strided_memory {
  static_assert(never<Array>, "copy_from_blocks, copy_to_blocks, plan_blocks: os::strided memory at os::at has the extents of an os::sizes that stands before it and names each axis, and other arrays have their own; write os::at(I = 4), os::sizes(I = 3, J = 8), os::strided(pointer, I = 1, J = 3), or a view alone");
};

template <class Sharding>
struct scalapack_array_is_not_a_matrix {
  static_assert(never<Sharding>, "scalapack_array_of: ScaLAPACK's array holds a matrix of two dimensions, and after the extents come an os::block_cyclic and a BLACS context, an int; write os::scalapack_array_of<I/X, J/Y>(mesh, I = 8, J = 8, os::block_cyclic(I = 2, J = 2), context)");
};

template <class A, class Planned>
struct plan_of_other_tensors {
  static_assert(never<A, Planned>, "blocks_plan: a plan copies tensors of the element type and sharding that it was made for; reshard the tensor with os::reshard, or make a plan for its type by os::plan_blocks");
};

template <class Given>
struct not_a_dlpack_tensor {
  static_assert(never<Given>, "from_dlpack, copy_from_dlpack: a DLPack tensor comes last, after the extents: a DLManagedTensorVersioned*, a DLManagedTensor*, the result of os::to_dlpack, moved, or a PyObject* if Python.h has been included before ostraka/dlpack.hpp; write os::from_dlpack<double, I/X>(mesh, I = 8, managed)");
};

template <class MemorySpace>
struct memory_without_dlpack {
  static_assert(never<MemorySpace>, "from_dlpack, copy_from_dlpack, to_dlpack: DLPack tensors are in the memory of a host, of CUDA or of ROCm; use an os::host_tensor");
};

template <class Element>
struct dlpack_without_flags {
  static_assert(never<Element>, "to_dlpack: a DLManagedTensor cannot say that its elements may only be read; write os::to_dlpack(A), which makes a DLManagedTensorVersioned, or export os::copy(A)");
};

}  // namespace ostraka::reason
