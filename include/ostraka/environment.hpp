// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. MPI and Kokkos, begun and ended once; adopted, and left running, if somebody else began them.

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include <ostraka/engine/communicator.hpp>
#include <ostraka/engine/error.hpp>

namespace ostraka {

/// Begins MPI (thread level FUNNELED) and Kokkos unless they run; its destructor ends what it began, Kokkos first. Make one at
/// the head of main. If it is destroyed by an exception while others still work, the job is ended (MPI_Abort): they would wait for ever.
class environment {
 public:
  /// @throws ostraka::error if MPI or Kokkos has already been ended, which cannot be undone.
  environment(int& argc, char**& argv) {
#if OSTRAKA_ENABLE_MPI
    int running = 0;
    int ended = 0;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (ended) throw error("environment: MPI has been finalized and cannot be begun again; make the environment once, at the head of main");
    if (!running) {
      int given = 0;
      MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
      owns_mpi_ = true;
    }
#endif
    if (!Kokkos::is_initialized()) {
      Kokkos::initialize(argc, argv);
      owns_kokkos_ = true;
    }
    in_flight_ = std::uncaught_exceptions();
  }

  environment(environment const&) = delete;
  environment& operator=(environment const&) = delete;

  ~environment() {
    bool const failing = std::uncaught_exceptions() > in_flight_;
#if OSTRAKA_ENABLE_MPI
    int size = 1;
    if (failing && owns_mpi_) MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 1) {
      std::fprintf(stderr, "ostraka: an exception left the environment; the job ends, since the other devices would wait\n");
      MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
#else
    static_cast<void>(failing);
#endif
    if (owns_kokkos_) Kokkos::finalize();
#if OSTRAKA_ENABLE_MPI
    if (owns_mpi_) MPI_Finalize();
#endif
  }

 private:
  bool owns_mpi_ = false;
  bool owns_kokkos_ = false;
  int in_flight_ = 0;
};

}  // namespace ostraka
