// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The MPI datatypes and operations for our element types and reductions.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <Kokkos_Core.hpp>

#  include <cstdint>

#  include <ostraka/types/values/half.hpp>
#  include <ostraka/types/values/reduction.hpp>

namespace ostraka::engine::detail {

template <class T>
MPI_Datatype message_type();
template <>
inline MPI_Datatype message_type<float>() { return MPI_FLOAT; }
template <>
inline MPI_Datatype message_type<double>() { return MPI_DOUBLE; }
template <>
inline MPI_Datatype message_type<Kokkos::complex<float>>() { return MPI_C_FLOAT_COMPLEX; }
template <>
inline MPI_Datatype message_type<Kokkos::complex<double>>() { return MPI_C_DOUBLE_COMPLEX; }
template <>
inline MPI_Datatype message_type<std::int8_t>() { return MPI_INT8_T; }
template <>
inline MPI_Datatype message_type<std::int16_t>() { return MPI_INT16_T; }
template <>
inline MPI_Datatype message_type<std::int32_t>() { return MPI_INT32_T; }
template <>
inline MPI_Datatype message_type<std::int64_t>() { return MPI_INT64_T; }
// As a byte, 0 or 1: MPI's own bool has no maximum, and an MPI without C++ has no bool.
static_assert(sizeof(bool) == 1);
template <>
inline MPI_Datatype message_type<bool>() { return MPI_UINT8_T; }
// MPI has no 16-bit floating-point numbers: they are sent as bit patterns, and MPI does not reduce them.
template <>
inline MPI_Datatype message_type<float16>() { return MPI_UINT16_T; }
template <>
inline MPI_Datatype message_type<bfloat16>() { return MPI_UINT16_T; }

inline MPI_Op operation_of(reduction how) {
  switch (how) {
    case reduction::sum: return MPI_SUM;
    case reduction::max: return MPI_MAX;
    case reduction::min: return MPI_MIN;
    case reduction::prod: return MPI_PROD;
    case reduction::bit_and: return MPI_BAND;
    case reduction::bit_or: return MPI_BOR;
  }
  return MPI_OP_NULL;
}

}  // namespace ostraka::engine::detail

#endif
