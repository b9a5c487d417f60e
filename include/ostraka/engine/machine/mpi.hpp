// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. <mpi.h> without its C++ bindings. With OSTRAKA_ENABLE_MPI=0 it includes nothing, and an empty type stands
/// for a communicator.

#ifndef OSTRAKA_ENABLE_MPI
#  define OSTRAKA_ENABLE_MPI 1
#endif

#if OSTRAKA_ENABLE_MPI
#  ifndef OMPI_SKIP_MPICXX
#    define OMPI_SKIP_MPICXX 1
#  endif
#  ifndef MPICH_SKIP_MPICXX
#    define MPICH_SKIP_MPICXX 1
#  endif
#  include <mpi.h>
#endif

namespace ostraka::engine {

#if OSTRAKA_ENABLE_MPI
using native_communicator = MPI_Comm;
inline native_communicator no_communicator() { return MPI_COMM_NULL; }
inline native_communicator all_ranks() { return MPI_COMM_WORLD; }
inline native_communicator this_rank_alone() { return MPI_COMM_SELF; }
inline bool is_none(native_communicator comm) { return comm == MPI_COMM_NULL; }
inline bool joins_two_groups(native_communicator comm) {
  int does = 0;
  MPI_Comm_test_inter(comm, &does);
  return does != 0;
}
#else
struct native_communicator {};
inline native_communicator no_communicator() { return {}; }
inline native_communicator all_ranks() { return {}; }
inline native_communicator this_rank_alone() { return {}; }
inline bool is_none(native_communicator) { return false; }
inline bool joins_two_groups(native_communicator) { return false; }
#endif

}  // namespace ostraka::engine
