// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Teams of threads on the sham device: each thread a context with a stack of its own, so that a barrier is a barrier.

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>

#include "device.hpp"

namespace sham {

namespace {

constexpr std::size_t stack_bytes = 65536;
constexpr char stale = 0x5A;  // in scratch memory that nothing was written to

struct team_of_contexts : team {
  int rank = 0;
  ucontext_t home{};
  std::vector<ucontext_t> contexts{};
  std::vector<char> stacks{};
  std::vector<char> ended{};
  std::function<void(int)> const* thread = nullptr;
};

team_of_contexts& current() {
  static thread_local team_of_contexts t;
  return t;
}

void run_thread() {
  team_of_contexts& t = current();
  int const me = t.rank;
  (*t.thread)(me);
  t.ended[static_cast<std::size_t>(me)] = 1;
  ::swapcontext(&t.contexts[static_cast<std::size_t>(me)], &t.home);
}

// Runs each thread to its next barrier, or its end. Returns how many have ended: it must be all of them, or none.
int run_to_barrier(team_of_contexts& t) {
  int ended = 0;
  for (int i = t.threads - 1; i >= 0; --i) {
    t.rank = i;
    ::swapcontext(&t.home, &t.contexts[static_cast<std::size_t>(i)]);
    ended += t.ended[static_cast<std::size_t>(i)];
  }
  return ended;
}

}  // namespace

team& this_team() { return current(); }

void team_barrier() {
  team_of_contexts& t = current();
  int const me = t.rank;
  ::swapcontext(&t.contexts[static_cast<std::size_t>(me)], &t.home);
}

void run_teams(int teams, int threads, std::size_t scratch_bytes, std::function<void(int)> const& thread) {
  team_of_contexts& t = current();
  auto const n = static_cast<std::size_t>(threads);
  t.threads = threads;
  t.thread = &thread;
  t.contexts.resize(n);
  t.stacks.resize(n * stack_bytes);
  for (t.number = teams - 1; t.number >= 0; --t.number) {
    t.scratch.assign(scratch_bytes, stale);
    t.ended.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      ::getcontext(&t.contexts[i]);
      t.contexts[i].uc_stack.ss_sp = t.stacks.data() + i * stack_bytes;
      t.contexts[i].uc_stack.ss_size = stack_bytes;
      t.contexts[i].uc_link = nullptr;
      ::makecontext(&t.contexts[i], &run_thread, 0);
    }
    for (int ended = 0; ended == 0;) {
      ended = run_to_barrier(t);
      if (ended == 0 || ended == threads) continue;
      std::fprintf(stderr, "sham: %d of %d threads of a team have ended, the others wait at a barrier\n", ended,
                   threads);
      std::_Exit(99);
    }
  }
}

}  // namespace sham
