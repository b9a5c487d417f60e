// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The clock of benchmarks that run on several ranks. It bypasses the functions that count MPI's calls.

#include <mpi.h>

#include <functional>

#include "line_between_ranks.hpp"
#include "report.hpp"

namespace bench {

/// The largest of the ranks' numbers, on all ranks.
inline double largest(double mine) {
  double all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

/// The seconds of `repeats` runs on the slowest rank, on all ranks. The ranks begin together; they repeat the runs if
/// the distance between ranks has meanwhile left the limit of line_between_ranks.
inline double seconds_of_all(std::function<void()> const& run, int repeats) {
  auto const once = [&] {
    PMPI_Barrier(MPI_COMM_WORLD);
    return largest(seconds_here(run, repeats));
  };
  static line_between_ranks& line = line_between_ranks::instance();
  if (!line.has_limit()) return once();
  while (true) {
    line.wait_until_within();
    double const seconds = once();
    if (line.is_within()) return seconds;
  }
}

}  // namespace bench
