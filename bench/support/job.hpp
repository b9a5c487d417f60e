// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A benchmark of several ranks: its arguments, its environment, and the report, which rank 0 writes.

#include <mpi.h>

#include <string>

#include <ostraka/ostraka.hpp>

#include "report.hpp"

namespace bench {

/// Make it at the begin of main: MPI ends with it.
struct job {
  job(char const* name, int argc, char** argv)
      : given(argc, argv), env(argc, argv), rank(rank_here()), ranks(env.devices()), out(name, given, rank == 0) {
    out.condition("ranks", std::to_string(ranks));
  }

  arguments const given;
  ostraka::environment const env;
  int const rank, ranks;
  report out;

 private:
  static int rank_here() {
    int r = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    return r;
  }
};

}  // namespace bench
