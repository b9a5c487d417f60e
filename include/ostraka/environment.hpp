// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. MPI and Kokkos, begun and ended once; adopted, and left running, if somebody else began them.

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <vector>

#include <ostraka/engine/communicator.hpp>
#include <ostraka/types/error.hpp>

namespace ostraka {

/// Begins MPI (thread level FUNNELED) and Kokkos unless they run; its destructor ends what it began, Kokkos first. Make one at
/// the head of main. Kokkos takes its arguments, --kokkos-…, out of the command line. If it is destroyed by an exception while others still work, the job is ended (MPI_Abort): they would wait for ever.
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
      begin_kokkos(argc, argv);
      owns_kokkos_ = true;
    }
    in_flight_ = std::uncaught_exceptions();
  }

  environment(environment const&) = delete;
  environment& operator=(environment const&) = delete;

  /// Number of devices of the job, one a process.
  [[nodiscard]] int devices() const {
    int n = 1;
#if OSTRAKA_ENABLE_MPI
    MPI_Comm_size(MPI_COMM_WORLD, &n);
#endif
    return n;
  }

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
  // Before version 4 Kokkos answers to --help, --threads and others, too, on every device; those are the program's.
  static void begin_kokkos(int& argc, char** argv) {
    std::vector<char*> its;
    int kept = 0;
    for (int i = 0; i < argc; ++i) {
      bool const is_its = i > 0 && std::string_view(argv[i]).substr(0, 9) == "--kokkos-";
      if (i == 0 || is_its) its.push_back(argv[i]);
      if (!is_its) argv[kept++] = argv[i];
    }
    if (kept < argc) argv[kept] = nullptr;
    argc = kept;
    int count = static_cast<int>(its.size());
    its.push_back(nullptr);
    Kokkos::initialize(count, its.data());
  }

  bool owns_mpi_ = false;
  bool owns_kokkos_ = false;
  int in_flight_ = 0;
};

}  // namespace ostraka
