// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The beginning and end of a job: the definitions of os::environment's members. A program that links
/// ostraka::compiled has them in the library, and reads neither this file nor its includes: traces, messages when ranks
/// end, threads.

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <ostraka/engine/machine/exclusive_use.hpp>
#include <ostraka/engine/machine/job_of_mpi.hpp>
#include <ostraka/engine/machine/launcher.hpp>
#include <ostraka/engine/machine/node.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/heap.hpp>
#include <ostraka/engine/spmd/abort_handlers.hpp>
#include <ostraka/engine/spmd/ended.hpp>
#include <ostraka/engine/spmd/peer_monitor.hpp>
#include <ostraka/engine/trace/tracer.hpp>
#include <ostraka/environment/advise.hpp>
#include <ostraka/environment/environment.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

template <class>
[[gnu::cold]] void environment::begin(int& argc, char**& argv, [[maybe_unused]] threads served) {
#if OSTRAKA_ENABLE_MPI
  if (engine::mpi_has_ended())
    throw_error(
        "environment: MPI has been finalized and cannot be begun again; make the environment once, at the head of "
        "main");
  bool const running = engine::mpi_has_begun();
  if (!running) engine::begin_mpi(argc, argv, served == threads::multiple);
  owns_mpi_ = !running || std::exchange(left_running_, false);
  bool const serves_several = engine::mpi_is_thread_multiple();
  if (served == threads::multiple && !serves_several) {
    left_running_ = owns_mpi_;  // the next environment ends it
    throw_error("environment: os::threads::multiple needs MPI_THREAD_MULTIPLE, but ",
                running ? "MPI has been begun without it; ask MPI_Init_thread for it"
                        : "this MPI does not give it; use one that was built with it");
  }
#endif
  warn_of_launcher();
  if (engine::has_ended())
    throw_error(
        "environment: Kokkos has been finalized and cannot be begun again; make the environment once, at the head of "
        "main");
  if (!Kokkos::is_initialized()) {
    begin_kokkos_with_its_threads(argc, argv);
    owns_kokkos_ = true;
    engine::prepare_heap();
  }
  in_flight_ = std::uncaught_exceptions();
  detail::appoint_adviser();
  engine::abort_handlers::arm();
#if OSTRAKA_ENABLE_MPI
  if (owns_mpi_) {  // all ranks are here
    engine::abort_handlers::agree();
    engine::peer_monitor const* const monitor = engine::peer_monitor::over(engine::all_ranks());
    if (monitor && monitor->compared() == engine::compared_calls::all) engine::abort_handlers::introduce();
  }
#endif
  bool const all_are_here = owns_mpi_ || OSTRAKA_ENABLE_MPI == 0;
  engine::trace_request const asked = engine::trace_request::of_this_process();
  engine::trace_request const request = all_are_here ? engine::trace_request::of_job(asked) : asked;
  if (request.any() && !engine::tracer::traces_all) tracer_ = new engine::tracer(request, all_are_here);
  engine::tracer::traces_all = engine::tracer::traces_all || tracer_ != nullptr;
}

// Each process of such a job is rank 0, so the launcher's first process speaks.
template <class>
[[gnu::cold]] void environment::warn_of_launcher() {
  if (!detail::advice_enabled(std::getenv("OSTRAKA_ADVISE")) || engine::launcher_of_this_process().rank != 0) return;
  if (std::string const wrong = engine::launcher_mismatch(); !wrong.empty())
    std::fprintf(stderr, "ostraka: environment: %s\n", wrong.c_str());
}

template <class>
[[gnu::cold]] void environment::end() {
  bool const on_unwinding = std::uncaught_exceptions() > in_flight_;
  if (tracer_ != nullptr) tracer_->stop();
  if (on_unwinding) write_trace(true);  // the job may end here
#if OSTRAKA_ENABLE_MPI
  if (owns_mpi_ && devices() > 1) {
    if (on_unwinding) engine::abort_handlers::on_unwinding();
    engine::peer_monitor::leave();
    engine::abort_handlers::disagree();
  }
#endif
  write_trace(false);  // all ranks are here
  engine::abort_handlers::release();
  if (owns_kokkos_) Kokkos::finalize();
  if (owns_mpi_) engine::end_mpi();
}

template <class>
[[gnu::cold]] void environment::write_trace(bool on_unwinding) {
  if (tracer_ == nullptr) return;
  tracer_->write(on_unwinding);
  delete std::exchange(tracer_, nullptr);
  engine::tracer::traces_all = false;
}

// All ranks together have to count the ranks that share a node, which they can only if MPI begins here. Otherwise
// the launcher may have set the number in the environment.
template <class>
[[gnu::cold]] void environment::begin_kokkos_with_its_threads(int& argc, char** argv) {
  engine::thread_request const request = engine::node::find_request(argc, argv);
  bool const all_are_here = owns_mpi_ || OSTRAKA_ENABLE_MPI == 0;
  engine::core_share const share =
      all_are_here ? engine::node::share_of_this_rank() : engine::node::share_from_launcher();
  engine::node::set_threads(request, share);
  begin_kokkos(argc, argv);
  engine::node::set_blas_threads(request, share);
  if (!detail::advice_enabled(std::getenv("OSTRAKA_ADVISE")) || !is_first_rank()) return;
  for (std::string const& warning : engine::thread_warnings(request, engine::node::facts(share)))
    std::fprintf(stderr, "ostraka: environment: %s (docs/threads.md)\n", warning.c_str());
}

// Before version 4 Kokkos also answers to --help, --threads and others, on every device; those belong to the program.
// It would also warn of more threads than cores on every rank, even if the user asked the launcher for them;
// thread_warnings warns once, of faults that can be remedied. With GPUs, Kokkos may warn on one rank.
template <class>
[[gnu::cold]] void environment::begin_kokkos(int& argc, char** argv) {
  dynamic_array<char*> its;
  int kept = 0;
  static char quietly[] = "--kokkos-disable-warnings";
  bool said = std::getenv("KOKKOS_DISABLE_WARNINGS") != nullptr;
  for (int i = 0; i < argc; ++i) {
    bool const is_kokkos_argument = i > 0 && std::string_view(argv[i]).substr(0, 9) == "--kokkos-";
    said = said || (is_kokkos_argument && std::string_view(argv[i]).substr(0, 25) == quietly);
    if (i == 0 || is_kokkos_argument) its.push_back(argv[i]);
    if (!is_kokkos_argument) argv[kept++] = argv[i];
  }
  if (kept < argc) argv[kept] = nullptr;
  argc = kept;
  static char no_name[] = "";
  if (its.empty()) its.push_back(no_name);
  if (!said && !(engine::has_gpu && is_first_rank())) its.push_back(quietly);
  int count = static_cast<int>(its.size());
  its.push_back(nullptr);
  Kokkos::initialize(count, its.data());
}

}  // namespace ostraka
