// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The end of a job that cannot go on: a sentence, and all ranks end. Ranks are numbers in MPI_COMM_WORLD, as
/// launchers print them.

#include <cstdio>
#include <cstdlib>
#include <string>

#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/machine/this_thread.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// Prints `ostraka: <message>` and ends all ranks of the job. @pre with MPI, it runs, and this is its thread
[[noreturn]] inline void end_job(std::string const& message) {
  std::fprintf(stderr, "ostraka: %s\n", message.c_str());
  std::fflush(stderr);
#if OSTRAKA_ENABLE_MPI
  this_thread::sleep(100000);  // some launchers end before they have read what a rank said
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
#endif
  std::abort();
}

/// `rank 1 of 4`, this process.
[[gnu::cold]] inline std::string this_rank() {
  int rank = 0;
  int ranks = 1;
#if OSTRAKA_ENABLE_MPI
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
  return join_text("rank ", rank, " of ", ranks);
}

}  // namespace ostraka::engine
