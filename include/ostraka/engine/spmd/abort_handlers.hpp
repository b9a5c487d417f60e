// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Handlers for a rank that ends before the end of main: by an uncaught exception, by a signal, and, in a job
/// of several ranks, by an early exit. The rank names itself and ends the job, since other ranks would wait for it.
/// Ranks that end for the same reason print one sentence together.

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include <ostraka/engine/carriers/control.hpp>
#include <ostraka/engine/machine/job_of_mpi.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/machine/this_thread.hpp>
#include <ostraka/engine/spmd/end_job.hpp>
#include <ostraka/engine/spmd/same_end.hpp>
#include <ostraka/types/support/join_text.hpp>

#if OSTRAKA_ENABLE_MPI
#  if __has_include(<unistd.h>)
#    include <signal.h>
#    include <unistd.h>
#    define OSTRAKA_DETAIL_POSIX 1
#  endif
#endif

namespace ostraka::engine::abort_handlers {

namespace detail {

[[gnu::cold]] inline std::string why_terminated() {
  std::exception_ptr const thrown = std::current_exception();
  if (!thrown) return "was ended by std::terminate";
  std::string why = "threw an exception that nobody caught";
  try {
    std::rethrow_exception(thrown);
  } catch (std::exception const& e) {
    append_text(why, " (", e.what(), ')');
  } catch (...) {  // NOLINT(bugprone-empty-catch): what is no std::exception has no text
  }
  return why;
}

// Ends a job of one rank like a job of several: with a sentence and without a core dump.
[[noreturn, gnu::cold]] inline void end_alone(bool by_mpi) {
  std::string const what = join_text("the program ", why_terminated(), "; it ends");
  if (by_mpi) end_job(what);
  std::fprintf(stderr, "ostraka: %s\n", what.c_str());
  std::fflush(stderr);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace detail

#if OSTRAKA_ENABLE_MPI

namespace detail {

// The state of this process, global because signal handlers and exit handlers take no arguments.
struct state {
  std::atomic<int> armed{0};  // number of environments alive
  place_in_job here;
  // The communicator for ranks that end alike; none if the program began MPI, since it cannot be created then.
  native_communicator job = no_communicator();
  std::string name;
  void const* thread = nullptr;  // MPI's thread
  std::terminate_handler before = nullptr;
#  ifdef OSTRAKA_DETAIL_POSIX
  char signalled[160]{};  // the text that a signal handler prints, except for two digits
  std::size_t digits_at = 0;
  struct sigaction handled_by[32]{};
#  endif
};
[[gnu::visibility("default")]] inline state self;

inline bool can_speak() { return self.armed > 0 && self.here.ranks > 1 && mpi_runs(); }

inline bool is_thread_of_mpi() { return this_thread::mark() == self.thread; }

// "rank 1 of 4", "ranks 0, 2 and 3 of 4", "all 4 ranks"
[[gnu::cold]] inline std::string name_of(same_end const& e) {
  if (e.count == self.here.ranks) return join_text("all ", e.count, " ranks");
  std::string text = e.count == 1 ? "rank " : "ranks ";
  for (int i = 0; i < e.count && i < same_end::most; ++i)
    append_text(text, i == 0 ? "" : i + 1 == e.count ? " and " : ", ", e.ranks[i]);
  return join_text(text, e.count > same_end::most ? ", …" : "", " of ", self.here.ranks);
}

// Waits for another rank, which prints the reason and ends the job.
[[noreturn]] inline void await_abort() {
  for (int i = 0; i < 30; ++i) this_thread::sleep(100000);
  abort_job();
}

[[noreturn]] inline void speak(std::string const& what) {
  self.armed = 0;
  std::string const waiting = "; the job ends, since the others would wait for ";
  if (!is_thread_of_mpi()) {
    std::fprintf(stderr, "ostraka: %s %s%sit\n", self.name.c_str(), what.c_str(), waiting.c_str());
    std::abort();  // another thread may not call MPI: the launcher sees the signal
  }
  if (self.job == no_communicator()) end_job(join_text(self.name, ' ', what, waiting, "it"));
  same_end const e = find_same_end(self.job, what);
  if (e.speaks == 0) await_abort();
  end_job(join_text(name_of(e), ' ', what,
                    e.count == self.here.ranks ? "; the job ends" : join_text(waiting, e.count == 1 ? "it" : "them")));
}

// Reports after the end of MPI, when ranks cannot exchange messages. Rank 0 prints first, and Open MPI's launcher then
// ends the others.
[[noreturn]] inline void report_without_mpi(std::string const& what) {
#  ifdef OPEN_MPI
  for (int i = 0; i < 25 && self.here.rank != 0; ++i) this_thread::sleep(100000);
#  endif
  std::fprintf(stderr, "ostraka: %s %s\n", self.name.c_str(), what.c_str());
  std::fflush(stderr);
  std::_Exit(EXIT_FAILURE);
}

[[gnu::cold]] inline void on_terminate() {
  if (can_speak()) speak(why_terminated());
  if (self.armed > 0 && self.here.ranks == 1 && mpi_runs()) end_alone(is_thread_of_mpi());
  if (mpi_has_ended() && self.here.ranks > 1 && is_thread_of_mpi()) report_without_mpi(why_terminated());
  if (self.before) self.before();
  std::abort();
}

[[gnu::cold]] inline void on_exit() {
  if (can_speak()) speak("called std::exit, or returned from main, while its environment lived");
}

#  ifdef OSTRAKA_DETAIL_POSIX
// Names the rank that a signal ends, since some launchers do not: mpiexec of MPICH names the process. Then runs the
// earlier handler, of MPI or a sanitizer, as if this one did not exist.
[[gnu::cold]] inline void on_signal(int number, siginfo_t* info, void*) {
  char* const digits = self.signalled + self.digits_at;
  digits[0] = number >= 10 ? static_cast<char>('0' + number / 10) : ' ';
  digits[1] = static_cast<char>('0' + number % 10);
  [[maybe_unused]] auto const written = ::write(2, self.signalled, std::strlen(self.signalled));
  sigaction(number, &self.handled_by[number], nullptr);
  if (info == nullptr || info->si_code <= 0) std::raise(number);  // otherwise the faulting instruction runs again
}

[[gnu::cold]] inline void listen_to_signals() {
  std::string text = join_text("ostraka: ", self.name, " was ended by signal ");
  self.digits_at = text.size();
  text += "   (kill -l tells which)\n";
  std::memcpy(self.signalled, text.c_str(), std::min(text.size() + 1, sizeof(self.signalled)));
  struct sigaction ours {};
  ours.sa_sigaction = &on_signal;
  ours.sa_flags = SA_SIGINFO;
  for (int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    sigaction(number, nullptr, &self.handled_by[number]);
    bool const ignored =
        (self.handled_by[number].sa_flags & SA_SIGINFO) == 0 && self.handled_by[number].sa_handler == SIG_IGN;
    if (!ignored) sigaction(number, &ours, nullptr);
  }
}
#  else
inline void listen_to_signals() {}
#  endif

}  // namespace detail

/// From this call until release(), this rank names itself when it ends. @pre MPI runs, and this is its thread
[[gnu::visibility("default")]] inline void arm() {
  detail::state& self = detail::self;
  self.name = this_rank();
  self.here = find_place_in_job();
  self.thread = this_thread::mark();
  if (self.armed++ > 0) return;
  static bool const ends_alike = [] {
    detail::self.before = std::set_terminate(&detail::on_terminate);
    return true;
  }();
  static_cast<void>(ends_alike);
  if (self.here.ranks == 1) return;
  static bool const once = [] {
    std::atexit(&detail::on_exit);
#  ifndef __APPLE__  // macOS has no at_quick_exit
    std::at_quick_exit(&detail::on_exit);
#  endif
    detail::listen_to_signals();
    return true;
  }();
  static_cast<void>(once);
}

inline void release() { --detail::self.armed; }

/// Prints the rank of this process. A signal that cannot be handled ends a process without a message, and mpiexec of
/// MPICH then names the process, not the rank.
inline void introduce() {
#  if defined(MPICH_VERSION) && defined(OSTRAKA_DETAIL_POSIX)
  std::fprintf(stderr, "ostraka: %s is process %ld on %s\n", detail::self.name.c_str(), static_cast<long>(::getpid()),
               name_of_host().c_str());
#  endif
}

/// From this call until disagree(), ranks that end alike print one sentence together. Collective over all ranks.
inline void agree() {
  if (detail::self.here.ranks == 1) return;
  detail::self.job = control::open(all_ranks());
}

inline void disagree() { control::close(detail::self.job); }

/// Ends the job, unless exceptions unwind all ranks alike. Call it in destructors that run during an exception. If it
/// returns, no rank waits for another, and the program continues where the exceptions are caught.
[[gnu::cold]] inline void on_unwinding() {
  std::string const what = "lost its environment to an exception";
  if (detail::self.job == no_communicator() || !detail::is_thread_of_mpi()) detail::speak(what);
  same_end const e = find_same_end(detail::self.job, what);
  if (e.count == detail::self.here.ranks) return;
  if (e.speaks == 0) detail::await_abort();
  end_job(join_text(detail::name_of(e), ' ', what, "; the job ends, since the others would wait for ",
                    e.count == 1 ? "it" : "them"));
}

#else

namespace detail {

[[gnu::visibility("default")]] inline std::atomic<int> armed{0};  // number of environments alive
[[gnu::visibility("default")]] inline std::terminate_handler before = nullptr;

[[gnu::cold]] inline void on_terminate() {
  if (armed > 0) end_alone(false);
  if (before) before();
  std::abort();
}

}  // namespace detail

inline void arm() {
  if (detail::armed++ > 0) return;
  static bool const once = [] {
    detail::before = std::set_terminate(&detail::on_terminate);
    return true;
  }();
  static_cast<void>(once);
}
inline void release() { --detail::armed; }

#endif

}  // namespace ostraka::engine::abort_handlers

#undef OSTRAKA_DETAIL_POSIX
