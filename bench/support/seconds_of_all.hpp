// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The clock of benchmarks that run on several ranks. It goes past what counts MPI's calls.

#include <mpi.h>

#include <functional>

#include "line_between_ranks.hpp"
#include "report.hpp"

namespace bench {

/// The largest of the ranks' numbers, on all of them.
inline double largest(double mine) {
  double all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

/// What `repeats` runs take on the slowest rank, which all ranks learn. They begin together; and again, where ranks
/// came to be nearer or further meanwhile than line_between_ranks allows.
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
