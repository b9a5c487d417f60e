// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Tells whether MPI reads and writes GPU memory. If the user has set OSTRAKA_GPU_AWARE_MPI to 1 or 0, that
/// decides: some libraries derived from Open MPI and MPICH cannot tell. Otherwise it asks Open MPI or MPICH.

#include <Kokkos_Core.hpp>

#include <cstdlib>

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI && defined(OPEN_MPI) && defined(__has_include)
#  if __has_include(<mpi-ext.h>)
#    include <mpi-ext.h>
#  endif
#endif

namespace ostraka::engine {

/// Returns MPI's own answer; false if MPI cannot be asked.
[[gnu::cold]] inline bool mpi_is_cuda_aware() {
#if OSTRAKA_ENABLE_MPI && \
    (defined(MPIX_CUDA_AWARE_SUPPORT) || (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000))
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

[[gnu::cold]] inline bool mpi_is_hip_aware() {
#if OSTRAKA_ENABLE_MPI && defined(MPIX_ROCM_AWARE_SUPPORT)
  return MPIX_Query_rocm_support() == 1;
#elif OSTRAKA_ENABLE_MPI && defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000
  return MPIX_Query_hip_support() == 1;
#else
  return false;
#endif
}

/// Returns the user's answer (`setting`, may be null or empty), otherwise MPI's for the GPUs that Kokkos was built for.
[[gnu::cold]] inline bool find_gpu_aware_mpi(char const* setting) {
  if (setting != nullptr && *setting != '\0') return *setting != '0';
#if defined(KOKKOS_ENABLE_CUDA)
  return mpi_is_cuda_aware();
#elif defined(KOKKOS_ENABLE_HIP)
  return mpi_is_hip_aware();
#else
  return false;
#endif
}

/// True if MPI takes pointers to GPU memory. It is determined once, when MPI runs.
inline bool mpi_is_gpu_aware() {
  static bool const takes = find_gpu_aware_mpi(std::getenv("OSTRAKA_GPU_AWARE_MPI"));
  return takes;
}

}  // namespace ostraka::engine
