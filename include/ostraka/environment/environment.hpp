// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Initialises MPI and Kokkos, and finalises them, once; if they run already, uses them and leaves them
/// running.

#include <ostraka/engine/call_check/observe_groups.hpp>
#include <ostraka/engine/machine/job_of_mpi.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/spmd/check_mode.hpp>

namespace ostraka::engine {

class tracer;

}  // namespace ostraka::engine

namespace ostraka {

/// The host threads of a rank that may run operations that communicate (docs/threads.md).
enum class threads {
  serialized,  ///< any thread, one at a time: a second one at the same time is refused
  multiple,  ///< several at the same time, each on a mesh of its own: MPI_THREAD_MULTIPLE, with slightly slower
             ///< messages
};

/// Initialises MPI (for threads::serialized, unless the program asks for more) and Kokkos unless they run already. Its
/// destructor finalises what it initialised, Kokkos first. Make one at the head of main. Kokkos removes its arguments,
/// --kokkos-…, from the command line.
///
/// If one rank leaves a job while others wait for it, the job ends with a message that names the rank. A rank leaves by
/// an exception that is not caught or that destroys the environment, by exit, by a signal, or by an environment that is
/// destroyed, or MPI that is finalized, before the others have done the work for which they need this rank. Ranks that
/// end in the same way share one message. With OSTRAKA_CHECK_SPMD=1, or without NDEBUG, ranks compare their calls
/// before they communicate; else they compare the first run of each call, unless the variable is 0.
///
/// Unless OMP_NUM_THREADS or Kokkos' own settings give the number of threads, a rank uses its share of the cores on
/// which it may run, for Kokkos and BLAS alike. Rank 0 warns once if ranks, threads and BLAS compete for cores, and if
/// the launcher belongs to another MPI than the program's, so that each process is a job of one rank. OSTRAKA_ADVISE=0
/// silences both.
///
/// The process keeps memory that a program frees for later results: blocks of GPUs and, if the environment begins
/// Kokkos, blocks of the host up to 32 MiB. OSTRAKA_KEEP_FREED_MEMORY=0 turns this off, and settings of the C library's
/// malloc turn it off on the host.
class environment {
 public:
  /// @throws ostraka::error if MPI or Kokkos has already been finalised, which cannot be undone, or if MPI does not
  /// support such threads.
  environment(int& argc, char**& argv, threads served = threads::serialized) {
    engine::set_debug_build();
    engine::observe_groups();
    begin(argc, argv, served);
  }

  environment(environment const&) = delete;
  environment& operator=(environment const&) = delete;

  /// The number of devices of the job, one a process.
  [[nodiscard]] int devices() const {
    return engine::find_place_in_job().ranks;
  }

  ~environment() { end(); }

 private:
  // Templates so that ostraka::compiled can hold them; environment/job.hpp has their bodies.
  template <class = void>
  [[gnu::cold]] void begin(int& argc, char**& argv, threads served);
  template <class = void>
  [[gnu::cold]] void end();
  template <class = void>
  [[gnu::cold]] static void warn_of_launcher();
  template <class = void>
  [[gnu::cold]] void begin_kokkos_with_its_threads(int& argc, char** argv);
  template <class = void>
  [[gnu::cold]] static void begin_kokkos(int& argc, char** argv);
  template <class = void>
  [[gnu::cold]] void write_trace(bool on_unwinding);

  static bool is_first_rank() { return engine::find_place_in_job().rank == 0; }

  [[gnu::visibility("default")]] static inline bool left_running_ = false;  // MPI, by an environment that was refused
  bool owns_mpi_ = false;
  bool owns_kokkos_ = false;
  engine::tracer* tracer_ = nullptr;  // of OSTRAKA_TRACE and OSTRAKA_TRACE_SUMMARY
  [[maybe_unused]] int in_flight_ = 0;
};

}  // namespace ostraka

#ifndef OSTRAKA_COMPILED
#  include <ostraka/environment/job.hpp>
#endif
