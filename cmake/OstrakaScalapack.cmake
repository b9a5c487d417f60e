# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# OSTRAKA_SCALAPACK: the ScaLAPACK of the MPI in use (distributions have one for each), for bench/scalapack and
# examples/cholesky.

if(OSTRAKA_ENABLE_MPI)
  get_target_property(mpi_libraries MPI::MPI_CXX INTERFACE_LINK_LIBRARIES)
  string(REGEX MATCH "openmpi|mpich" mpi_flavour "${mpi_libraries}")
  find_library(OSTRAKA_SCALAPACK NAMES scalapack-${mpi_flavour} scalapack
    DOC "ScaLAPACK, for bench/scalapack and examples/cholesky")
  mark_as_advanced(OSTRAKA_SCALAPACK)
endif()
