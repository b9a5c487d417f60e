// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Processes that die at any moment of a save: what they ask the system for is counted, by functions that stand in
/// place of the C library's, and the process is killed before its n-th request. For one rank, whose child dies.

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>

namespace ostraka::testing {

/// Requests until this process dies; it lives on if they are negative.
inline std::atomic<int> requests_to_live{-1};

inline void request() {
  if (requests_to_live.load() >= 0 && requests_to_live.fetch_sub(1) == 0) ::kill(::getpid(), SIGKILL);
}

/// Runs f in a child that dies before request number n. @returns whether it has ended before it was to die
template <class F>
bool dies_at(int n, F const& f) {
  pid_t const child = ::fork();
  if (child == 0) {
    requests_to_live = n;
    f();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace ostraka::testing

extern "C" {

int rename(char const* from, char const* to) noexcept {
  ostraka::testing::request();
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int unlink(char const* path) noexcept {
  ostraka::testing::request();
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int fsync(int file) {
  ostraka::testing::request();
  return static_cast<int>(::syscall(SYS_fsync, file));
}

ssize_t pwrite(int file, void const* from, std::size_t bytes, off_t at) {
  ostraka::testing::request();
  return ::syscall(SYS_pwrite64, file, from, bytes, at);
}

}  // extern "C"
