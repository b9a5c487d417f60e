// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The job as MPI has begun it: whether it runs, which of its ranks this process is, and its end. Without MPI
/// a job is one process, which runs.

#include <cstdlib>

#include <ostraka/engine/machine/mpi.hpp>

namespace ostraka::engine {

/// Has MPI ended, so that nothing of it can be freed?
[[nodiscard]] inline bool mpi_has_ended() {
  int ended = 0;
#if OSTRAKA_ENABLE_MPI
  MPI_Finalized(&ended);
#endif
  return ended != 0;
}

/// Has MPI begun? It may have ended since.
[[nodiscard]] inline bool mpi_has_begun() {
  int begun = 1;
#if OSTRAKA_ENABLE_MPI
  MPI_Initialized(&begun);
#endif
  return begun != 0;
}

[[nodiscard]] inline bool mpi_runs() { return mpi_has_begun() && !mpi_has_ended(); }

/// This process among those of the job, as launchers number them.
struct place_in_job {
  int rank = 0;
  int ranks = 1;
};

/// @pre MPI runs
[[nodiscard, gnu::cold]] inline place_in_job find_place_in_job() {
  place_in_job here;
#if OSTRAKA_ENABLE_MPI
  MPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &here.ranks);
#endif
  return here;
}

/// Ends all ranks of the job. @pre MPI runs, and this is its thread
[[noreturn, gnu::cold]] inline void abort_job() {
#if OSTRAKA_ENABLE_MPI
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
#endif
  std::abort();
}

}  // namespace ostraka::engine
