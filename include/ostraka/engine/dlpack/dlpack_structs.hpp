// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The structs by which array libraries share memory: DLPack 1 (dmlc/dlpack, "DLPack: Open In Memory Tensor
/// Structure", version 1.1), a binary interface. Programs with the original header pass its structs; other programs use
/// these. Functions use the names of members and not of types, so both work.

#include <cstdint>

#if !defined(DLPACK_DLPACK_H_)
#  if __has_include(<dlpack/dlpack.h>)
#    include <dlpack/dlpack.h>
#  endif
#endif

/// The structs of the DLPack specification, with its names of structs and members.
namespace ostraka::dlpack {

/// The version of a managed tensor. A new major version changes the layout.
struct DLPackVersion {
  std::uint32_t major;  ///< 1
  std::uint32_t minor;  ///< higher versions have more types of elements and devices
};

/// The kinds of memory that Kokkos also has.
enum DLDeviceType : std::int32_t {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLCUDAManaged = 13
};

/// The device of the memory.
struct DLDevice {
  DLDeviceType device_type;  ///< the kind of memory
  std::int32_t device_id;    ///< the number of the GPU; 0 for the memory of a host
};

/// The kinds of elements that tensors have.
enum DLDataTypeCode : std::uint8_t {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6
};

/// The type of the elements.
struct DLDataType {
  std::uint8_t code;    ///< a DLDataTypeCode
  std::uint8_t bits;    ///< of one number; for a complex number, of both parts
  std::uint16_t lanes;  ///< 1, unless an element is a short vector
};

/// An array: its memory and its layout.
struct DLTensor {
  void* data;                 ///< null if there are no elements
  DLDevice device;            ///< where the memory is
  std::int32_t ndim;          ///< the number of dimensions
  DLDataType dtype;           ///< the type of the elements
  std::int64_t* shape;        ///< an extent for each dimension
  std::int64_t* strides;      ///< in elements; null stands for row-major before version 1.2
  std::uint64_t byte_offset;  ///< offset of the first element from `data`
};

/// A tensor with its owner, as libraries before version 1 pass it. It cannot be marked as read only.
struct DLManagedTensor {
  DLTensor dl_tensor;                      ///< the array
  void* manager_ctx;                       ///< the owner
  void (*deleter)(DLManagedTensor* self);  ///< call it once, when the array is no longer needed; may be null
};

/// A tensor with its owner.
struct DLManagedTensorVersioned {
  DLPackVersion version;                            ///< of the struct
  void* manager_ctx;                                ///< the owner
  void (*deleter)(DLManagedTensorVersioned* self);  ///< call it once, when the array is no longer needed
  std::uint64_t flags;                              ///< the flags below
  DLTensor dl_tensor;                               ///< the array
};

/// The flag of a tensor whose elements may only be read.
inline constexpr std::uint64_t read_only_flag = 1;
/// The flag of a tensor that its producer made for its consumer alone.
inline constexpr std::uint64_t is_copied_flag = 2;

#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION == 1
/// The struct that os::to_dlpack makes: that of the original header, which the program has included.
using managed_tensor = ::DLManagedTensorVersioned;
#else
/// The struct that os::to_dlpack makes.
using managed_tensor = DLManagedTensorVersioned;
#endif

}  // namespace ostraka::dlpack
