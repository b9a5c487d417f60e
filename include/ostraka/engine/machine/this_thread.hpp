// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Functions of the calling thread: sleep, yield, its identity, and the time. They use POSIX where they can:
/// <thread> would be the largest header that this library adds to those of Kokkos and MPI.

#include <cstdint>

#if __has_include(<unistd.h>) && __has_include(<sched.h>)
#  include <sched.h>
#  include <time.h>
#  include <unistd.h>
#  define OSTRAKA_DETAIL_POSIX 1
#else
#  include <chrono>
#  include <thread>
#endif

namespace ostraka::engine::this_thread {

/// Sleeps for this many microseconds, less than a second.
inline void sleep(std::int64_t microseconds) {
#ifdef OSTRAKA_DETAIL_POSIX
  timespec time{};
  time.tv_nsec = static_cast<decltype(time.tv_nsec)>(microseconds * 1000);
  nanosleep(&time, nullptr);
#else
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
#endif
}

/// Returns the time of a monotonic clock.
[[nodiscard]] inline double seconds() {
#ifdef OSTRAKA_DETAIL_POSIX
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#else
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

/// Yields the core to other threads.
inline void yield() {
#ifdef OSTRAKA_DETAIL_POSIX
  sched_yield();
#else
  std::this_thread::yield();
#endif
}

/// Returns an address that identifies this thread among all living threads.
[[gnu::visibility("default")]] inline void const* mark() {
  static thread_local char const here = 0;
  return &here;
}

/// Returns the number of cores of the machine, 0 if it is not known.
inline int cores_of_machine() {
#ifdef OSTRAKA_DETAIL_POSIX
  long const cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 ? static_cast<int>(cores) : 0;
#else
  return static_cast<int>(std::thread::hardware_concurrency());
#endif
}

}  // namespace ostraka::engine::this_thread

#undef OSTRAKA_DETAIL_POSIX
