// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Detects a program of one MPI that another MPI's launcher started: each process is then a world of one rank,
/// and computes everything alone. MPI cannot detect this; the environment variables that launchers set reveal it.

#include <cstdlib>
#include <string>
#include <string_view>

#include <ostraka/engine/machine/job_of_mpi.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// A launcher, as this process's environment variables describe it.
struct launcher_facts {
  std::string_view name;      ///< "Open MPI"; empty: no launcher, or its number of processes is unknown
  std::string_view variable;  ///< the variable that holds the number of processes
  int processes = 1;
  int rank = 0;  ///< this process's rank among them
};

/// Returns the launcher of this process; `lookup(variable)` returns a variable's value, or null. PMI is MPICH's
/// protocol; Intel MPI, MVAPICH and Slurm use it, too.
template <class Lookup>
[[gnu::cold]] launcher_facts launcher_of(Lookup const& lookup) {
  struct variables {
    char const *name, *size, *rank;
  };
  for (variables const& v : {variables{"Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                             variables{"MPICH or Slurm", "PMI_SIZE", "PMI_RANK"}}) {
    char const* const size = lookup(v.size);
    if (!size || std::atoi(size) < 1) continue;
    char const* const rank = lookup(v.rank);
    return {v.name, v.size, std::atoi(size), rank ? std::atoi(rank) : 0};
  }
  return {};
}

[[gnu::cold]] inline launcher_facts launcher_of_this_process() {
  return launcher_of([](char const* variable) { return std::getenv(variable); });
}

/// Returns the name of the MPI that the program was compiled with, for a sentence; empty: none.
[[gnu::cold]] constexpr std::string_view mpi_of_this_program() {
#if !OSTRAKA_ENABLE_MPI
  return "";
#elif defined(OPEN_MPI)
  return "Open MPI";
#elif defined(I_MPI_VERSION)
  return "Intel MPI";
#elif defined(MVAPICH2_VERSION) || defined(MVAPICH_VERSION)
  return "MVAPICH";
#elif defined(MPICH_VERSION)
  return "MPICH";
#else
  return "MPI";
#endif
}

/// Returns the error sentence (*rule, but the fault; remedy*) about a world of `ranks` ranks under a launcher; empty if
/// they agree. `mpi` is the program's MPI, empty: none.
[[gnu::cold]] inline std::string launcher_mismatch(launcher_facts const& launcher, int ranks, std::string_view mpi) {
  if (ranks != 1 || launcher.processes < 2) return {};
  std::string text =
      join_text("a launcher starts the ranks of one job, but the launcher of ", launcher.name, " started ",
                launcher.processes, " processes (", launcher.variable, ") and each is a job of one rank ");
  if (mpi.empty())
    text += "without MPI; compile the program with OSTRAKA_ENABLE_MPI=ON, or start one process";
  else
    append_text(text, "of ", mpi, "; start the program with the mpiexec of the ", mpi, " that it was compiled with");
  return text;
}

/// Returns the fault in how this process was started, or an empty text. Call it between MPI's beginning and its end.
[[gnu::cold]] inline std::string launcher_mismatch() {
  return launcher_mismatch(launcher_of_this_process(), find_place_in_job().ranks, mpi_of_this_program());
}

}  // namespace ostraka::engine
