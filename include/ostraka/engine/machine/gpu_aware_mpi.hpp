// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Does MPI read and write GPU memory? Open MPI and MPICH are asked; what they do not know of themselves, as
/// libraries derived from them, the user says with OSTRAKA_GPU_AWARE_MPI (1 or 0), which is asked first.

#include <Kokkos_Core.hpp>

#include <cstdlib>

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI && defined(OPEN_MPI) && defined(__has_include)
#  if __has_include(<mpi-ext.h>)
#    include <mpi-ext.h>
#  endif
#endif

namespace ostraka::engine {

/// What MPI says of itself; false where it cannot be asked.
[[gnu::cold]] inline bool mpi_knows_cuda() {
#if OSTRAKA_ENABLE_MPI && \
    (defined(MPIX_CUDA_AWARE_SUPPORT) || (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000))
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

[[gnu::cold]] inline bool mpi_knows_hip() {
#if OSTRAKA_ENABLE_MPI && defined(MPIX_ROCM_AWARE_SUPPORT)
  return MPIX_Query_rocm_support() == 1;
#elif OSTRAKA_ENABLE_MPI && defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000
  return MPIX_Query_hip_support() == 1;
#else
  return false;
#endif
}

/// What the user says (`said`, may be null or empty), else what MPI says of the GPUs that Kokkos was built for.
[[gnu::cold]] inline bool find_gpu_aware_mpi(char const* said) {
  if (said != nullptr && *said != '\0') return *said != '0';
#if defined(KOKKOS_ENABLE_CUDA)
  return mpi_knows_cuda();
#elif defined(KOKKOS_ENABLE_HIP)
  return mpi_knows_hip();
#else
  return false;
#endif
}

/// Whether MPI is given pointers to GPU memory. Asked once, when MPI runs.
inline bool mpi_takes_gpu_memory() {
  static bool const takes = find_gpu_aware_mpi(std::getenv("OSTRAKA_GPU_AWARE_MPI"));
  return takes;
}

}  // namespace ostraka::engine
