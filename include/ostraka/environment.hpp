// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. MPI and Kokkos, begun and ended once; adopted, and left running, if somebody else began them.

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <ostraka/advise.hpp>
#include <ostraka/engine/machine/exclusive_use.hpp>
#include <ostraka/engine/machine/node.hpp>
#include <ostraka/engine/memory/freed_memory.hpp>
#include <ostraka/engine/spmd/abort_handlers.hpp>
#include <ostraka/engine/spmd/check_mode.hpp>
#include <ostraka/engine/spmd/ended.hpp>
#include <ostraka/engine/spmd/peer_monitor.hpp>
#include <ostraka/engine/trace/tracer.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

/// Which host threads of a rank may be in operations that communicate; docs/threads.md.
enum class threads {
  serialized,  ///< any, one at a time: a second one at the same time is refused
  multiple,  ///< several at the same time, each on a mesh of its own: MPI_THREAD_MULTIPLE, whose messages take a little
             ///< longer
};

/// Begins MPI (for threads::serialized, unless more is asked for) and Kokkos unless they run; its destructor ends what
/// it began, Kokkos first. Make one at the head of main. Kokkos takes its arguments, --kokkos-…, out of the command
/// line.
///
/// If one rank leaves a job while others wait for it, the job ends with a message that names the rank: an exception
/// that nobody catches or that destroys the environment, exit, a signal, and an environment that is destroyed, or MPI
/// that is finalized, before the others have done what they need this rank for. Ranks that end alike have one message.
/// With OSTRAKA_CHECK_SPMD=1, or without NDEBUG, ranks compare what they call before they communicate.
///
/// Threads, unless OMP_NUM_THREADS or Kokkos' own settings say how many: a rank takes its part of the cores that it may
/// run on, Kokkos and BLAS alike. A combination of ranks, threads and BLAS that gets in its own way is said once, by
/// rank 0; OSTRAKA_ADVISE=0 silences it.
///
/// Memory that a program frees stays with the process, blocks up to 32 MB, for the results to come;
/// OSTRAKA_KEEP_FREED_MEMORY=0, or settings of the C library's malloc, leave that as it was.
class environment {
 public:
  /// @throws ostraka::error if MPI or Kokkos has already been ended, which cannot be undone, or if MPI does not serve
  /// such threads.
  environment(int& argc, char**& argv, threads served = threads::serialized) {
    engine::tell_build();
    engine::observe_groups();
    begin(argc, argv, served);
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

  ~environment() { end(); }

 private:
  // Templates so that ostraka::compiled can hold them.
  template <class = void>
  [[gnu::cold]] void begin(int& argc, char**& argv, threads served);
  template <class = void>
  [[gnu::cold]] void end();
  template <class = void>
  void begin_kokkos_with_its_threads(int& argc, char** argv);
  template <class = void>
  [[gnu::cold]] static void begin_kokkos(int& argc, char** argv);
  template <class = void>
  void write_trace(bool thrown_through);

  static bool is_first_rank() {
    int rank = 0;
#if OSTRAKA_ENABLE_MPI
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    return rank == 0;
  }

  static inline bool left_running_ = false;  // MPI, by an environment that was refused
  bool owns_mpi_ = false;
  bool owns_kokkos_ = false;
  engine::tracer* tracer_ = nullptr;  // of OSTRAKA_TRACE and OSTRAKA_TRACE_SUMMARY
  [[maybe_unused]] int in_flight_ = 0;
};

template <class>
[[gnu::cold]] void environment::begin(int& argc, char**& argv, [[maybe_unused]] threads served) {
#if OSTRAKA_ENABLE_MPI
  int running = 0;
  int ended = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&ended);
  if (ended)
    throw error(
        "environment: MPI has been finalized and cannot be begun again; make the environment once, at the head of main");
  if (!running) {
    int given = 0;
    MPI_Init_thread(&argc, &argv, served == threads::multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &given);
  }
  owns_mpi_ = !running || std::exchange(left_running_, false);
  bool const serves_several = engine::mpi_serves_threads_at_once();
  if (served == threads::multiple && !serves_several) {
    left_running_ = owns_mpi_;  // the next environment ends it
    throw error(std::string("environment: os::threads::multiple needs MPI_THREAD_MULTIPLE, but ") +
                (running ? "MPI has been begun without it; ask MPI_Init_thread for it"
                         : "this MPI does not give it; use one that was built with it"));
  }
#endif
  if (engine::has_ended())
    throw error(
        "environment: Kokkos has been finalized and cannot be begun again; make the environment once, at the head of main");
  if (!Kokkos::is_initialized()) {
    begin_kokkos_with_its_threads(argc, argv);
    owns_kokkos_ = true;
    engine::keep_freed_memory();
  }
  in_flight_ = std::uncaught_exceptions();
  detail::appoint_adviser();
  engine::abort_handlers::arm();
#if OSTRAKA_ENABLE_MPI
  if (owns_mpi_) {  // all ranks are here
    engine::abort_handlers::agree();
    engine::peer_monitor const* const monitor = engine::peer_monitor::over(MPI_COMM_WORLD);
    if (monitor && monitor->compares_calls()) engine::abort_handlers::introduce();
  }
#endif
  bool const all_are_here = owns_mpi_ || OSTRAKA_ENABLE_MPI == 0;
  engine::trace_wishes const asked = engine::trace_wishes::of_this_process();
  engine::trace_wishes const wishes = all_are_here ? engine::trace_wishes::of_job(asked) : asked;
  if (wishes.any() && !engine::tracer::traces_all) tracer_ = new engine::tracer(wishes, all_are_here);
  engine::tracer::traces_all = engine::tracer::traces_all || tracer_ != nullptr;
}

template <class>
[[gnu::cold]] void environment::end() {
  bool const thrown_through = std::uncaught_exceptions() > in_flight_;
  if (tracer_ != nullptr) tracer_->stop();
  if (thrown_through) write_trace(true);  // the job may end here
#if OSTRAKA_ENABLE_MPI
  if (owns_mpi_ && devices() > 1) {
    if (thrown_through) engine::abort_handlers::thrown_through();
    engine::peer_monitor::leave();
    engine::abort_handlers::disagree();
  }
#endif
  write_trace(false);  // all ranks are here
  engine::abort_handlers::release();
  if (owns_kokkos_) Kokkos::finalize();
#if OSTRAKA_ENABLE_MPI
  if (owns_mpi_) MPI_Finalize();
#endif
}

template <class>
[[gnu::cold]] void environment::write_trace(bool thrown_through) {
  if (tracer_ == nullptr) return;
  tracer_->write(thrown_through);
  delete std::exchange(tracer_, nullptr);
  engine::tracer::traces_all = false;
}

// How many ranks share a node, all have to tell together: known only where MPI begins here. Else the launcher may have
// told.
template <class>
[[gnu::cold]] void environment::begin_kokkos_with_its_threads(int& argc, char** argv) {
  engine::thread_wishes const said = engine::node::wishes(argc, argv);
  bool const all_are_here = owns_mpi_ || OSTRAKA_ENABLE_MPI == 0;
  engine::core_share const share =
      all_are_here ? engine::node::share_of_this_rank() : engine::node::share_told_by_launcher();
  engine::node::set_threads(said, share);
  begin_kokkos(argc, argv);
  engine::node::set_blas_threads(said, share);
  if (!detail::advice_wanted(std::getenv("OSTRAKA_ADVISE")) || !is_first_rank()) return;
  for (std::string const& warning : engine::thread_warnings(said, engine::node::facts(share)))
    std::fprintf(stderr, "ostraka: environment: %s (docs/threads.md)\n", warning.c_str());
}

// Before version 4 Kokkos answers to --help, --threads and others, too, on every device; those are the program's. Of
// more threads than cores it would warn on every rank, whatever the launcher was told: thread_warnings says, once, what
// can be remedied. Of GPUs it may tell on one.
template <class>
[[gnu::cold]] void environment::begin_kokkos(int& argc, char** argv) {
  dynamic_array<char*> its;
  int kept = 0;
  static char quietly[] = "--kokkos-disable-warnings";
  bool const one_speaks = !std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace>;
  bool said = std::getenv("KOKKOS_DISABLE_WARNINGS") != nullptr;
  for (int i = 0; i < argc; ++i) {
    bool const is_its = i > 0 && std::string_view(argv[i]).substr(0, 9) == "--kokkos-";
    said = said || (is_its && std::string_view(argv[i]).substr(0, 25) == quietly);
    if (i == 0 || is_its) its.push_back(argv[i]);
    if (!is_its) argv[kept++] = argv[i];
  }
  if (kept < argc) argv[kept] = nullptr;
  argc = kept;
  static char no_name[] = "";
  if (its.empty()) its.push_back(no_name);
  if (!said && !(one_speaks && is_first_rank())) its.push_back(quietly);
  int count = static_cast<int>(its.size());
  its.push_back(nullptr);
  Kokkos::initialize(count, its.data());
}

}  // namespace ostraka
