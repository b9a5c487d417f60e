// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Ends a job that cannot continue: prints a sentence and ends all ranks. Ranks have their numbers in the job,
/// as launchers print them.

#include <cstdio>
#include <string>

#include <ostraka/engine/machine/job_of_mpi.hpp>
#include <ostraka/engine/machine/this_thread.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// Prints `ostraka: <message>` and ends all ranks of the job. @pre in a build with MPI: MPI runs, and this is its
/// thread
[[noreturn]] inline void end_job(std::string const& message) {
  std::fprintf(stderr, "ostraka: %s\n", message.c_str());
  std::fflush(stderr);
  if (OSTRAKA_ENABLE_MPI) this_thread::sleep(100000);  // some launchers end before they have read a rank's output
  abort_job();
}

/// Returns the name of this rank: `rank 1 of 4`.
[[gnu::cold]] inline std::string this_rank() {
  place_in_job const here = find_place_in_job();
  return join_text("rank ", here.rank, " of ", here.ranks);
}

}  // namespace ostraka::engine
