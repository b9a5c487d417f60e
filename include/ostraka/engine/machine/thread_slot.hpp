// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A small number for each host thread, its index in a short table. A thread keeps its number until it ends;
/// then another thread may get that number. Threads beyond the table's length share the last entry.

#include <atomic>

#include <ostraka/engine/memory/per_thread.hpp>

namespace ostraka::engine {

class thread_slot {
 public:
  static constexpr int number_of = 8;

  [[gnu::visibility("default")]] static int of_this_thread() {
    static thread_local constinit thread_slot* slot = nullptr;
    return per_thread(slot).number_;
  }

  thread_slot() {
    unsigned taken = taken_.load(std::memory_order_relaxed);
    do {
      number_ = 0;
      while (number_ < number_of - 1 && (taken >> number_ & 1u) != 0) ++number_;
    } while (!taken_.compare_exchange_weak(taken, taken | 1u << number_, std::memory_order_relaxed));
  }
  thread_slot(thread_slot const&) = delete;
  thread_slot& operator=(thread_slot const&) = delete;
  ~thread_slot() { taken_.fetch_and(~(1u << number_), std::memory_order_relaxed); }

 private:
  int number_ = 0;
  [[gnu::visibility("default")]] inline static std::atomic<unsigned> taken_{0};
};

}  // namespace ostraka::engine
