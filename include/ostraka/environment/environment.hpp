// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Begins MPI and Kokkos, and ends them, once; if they run already, adopts them and leaves them running.

#include <ostraka/engine/call_check/observe_groups.hpp>
#include <ostraka/engine/machine/job_of_mpi.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/spmd/check_mode.hpp>

namespace ostraka::engine {

class tracer;

}  // namespace ostraka::engine

namespace ostraka {

/// The host threads of a rank that may be in operations that communicate; docs/threads.md.
enum class threads {
  serialized,  ///< any thread, one at a time: a second one at the same time is refused
  multiple,  ///< several at the same time, each on a mesh of its own: MPI_THREAD_MULTIPLE, whose messages take a little
             ///< longer
};

/// Begins MPI (for threads::serialized, unless more is asked for) and Kokkos unless they run; its destructor ends what
/// it began, Kokkos first. Make one at the head of main. Kokkos takes its arguments, --kokkos-…, out of the command
/// line.
///
/// If one rank leaves a job while others wait for it, the job ends with a message that names the rank. A rank leaves by
/// an exception that is not caught or that destroys the environment, by exit, by a signal, or by an environment that is
/// destroyed, or MPI that is finalized, before the others have done the work for which they need this rank. Ranks that
/// end alike have one message. With OSTRAKA_CHECK_SPMD=1, or without NDEBUG, ranks compare their calls before they
/// communicate; else they compare the first run of each call, unless the variable is 0.
///
/// Threads, unless OMP_NUM_THREADS or Kokkos' own settings give their number: a rank takes its part of the cores on
/// which it may run, for Kokkos and BLAS alike. Rank 0 warns once of a combination of ranks, threads and BLAS that gets
/// in its own way, and of a launcher of another MPI than the program's, whose processes are jobs of one rank each.
/// OSTRAKA_ADVISE=0 silences both.
///
/// Memory that a program frees stays with the process for later results: blocks of GPUs and, if the environment begins
/// Kokkos, blocks of the host up to 32 MiB. OSTRAKA_KEEP_FREED_MEMORY=0 turns this off, and settings of the C library's
/// malloc turn it off on the host.
class environment {
 public:
  /// @throws ostraka::error if MPI or Kokkos has already been ended, which cannot be undone, or if MPI does not serve
  /// such threads.
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
