// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The sham device's stream and device number, as engine/kernels/loops/stream.hpp asks for them, in the types of CUDA.
/// The headers of libraries of NVIDIA that are faked include it.

struct sham_stream;
using cudaStream_t = sham_stream*;

#if defined(KOKKOS_VERSION)
namespace Kokkos {
inline cudaStream_t stream_of(Sham const&) { return nullptr; }
inline int device_of(Sham const&) { return 0; }
}  // namespace Kokkos
#endif
