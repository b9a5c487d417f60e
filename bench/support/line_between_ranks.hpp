// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The time of a cache line from rank 0 to rank 1 of one node: it shows whether their cores share a cache. In a virtual
/// machine this depends on the cores on which the host currently runs it, and messages between cores without a common
/// cache take many times as long. The host moves two ranks apart more often if they compute without a pause than if
/// they have just begun. With a limit, benchmarks measure only while the time is within it; without one, at any time.

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>

namespace bench {

class line_between_ranks {
 public:
  /// The instance of this process. All ranks call this together.
  static line_between_ranks& instance() {
    static line_between_ranks it;
    return it;
  }

  /// From here on samples count only while a line takes at most so many nanoseconds, or at least that many if the limit
  /// is negative; all samples together wait for that for at most `patience` seconds.
  void limit(double nanoseconds, double patience) {
    limit_ = nanoseconds;
    patience_ = patience;
  }
  [[nodiscard]] bool has_limit() const { return limit_ != 0 && flag_ != nullptr; }

  /// True if the time is within the limit, or the patience is exhausted. The same on all ranks.
  bool is_within() {
    double const now = nanoseconds();
    least_ = least_ > 0 ? std::min(least_, now) : now;
    most_ = std::max(most_, now);
    return (limit_ > 0 ? now <= limit_ : now >= -limit_) || patience_ <= 0;
  }

  void wait_until_within() {
    while (!is_within()) {
      double const begin = PMPI_Wtime();
      while (PMPI_Wtime() - begin < 0.02) {
      }
      patience_ -= 0.02;
    }
  }

  /// Prints "a cache line took 25 to 180 ns", and whether the wait for the limit was in vain.
  void print() const {
    if (least_ > 0)
      std::printf("a cache line took %.0f to %.0f ns between ranks%s\n", least_, most_,
                  patience_ <= 0 ? ", and was not within the limit for all samples" : "");
  }

 private:
  line_between_ranks() {
    int ranks = 1;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm node = MPI_COMM_NULL;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int here = 0;
    PMPI_Comm_size(node, &here);
    if (ranks > 1 && here == ranks) {
      void* base = nullptr;
      MPI_Aint size = rank_ == 0 ? 128 : 0;
      int unit = 1;
      MPI_Win window = MPI_WIN_NULL;  // until the process ends
      PMPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, node, &base, &window);
      PMPI_Win_shared_query(window, 0, &size, &unit, &base);
      flag_ = static_cast<int*>(base);
      if (rank_ == 0) *flag_ = 0;
    }
    PMPI_Barrier(MPI_COMM_WORLD);
  }

  // The least of some rounds, on all ranks.
  double nanoseconds() {
    constexpr int rounds = 5, passes = 50;
    double least = 1e300;
    for (int r = 0; r < rounds; ++r) {
      PMPI_Barrier(MPI_COMM_WORLD);
      auto const begin = std::chrono::steady_clock::now();
      for (int k = 0; k < passes && rank_ < 2; ++k) {
        std::atomic_ref<int> const line(*flag_);
        while (line.load(std::memory_order_acquire) != rank_) {
        }
        line.store(1 - rank_, std::memory_order_release);
      }
      double const taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      least = std::min(least, taken * 1e9 / (2 * passes));
    }
    PMPI_Bcast(&least, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    PMPI_Bcast(&patience_, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return least;
  }

  int* flag_ = nullptr;
  int rank_ = 0;
  double limit_ = 0, patience_ = 0, least_ = 0, most_ = 0;
};

}  // namespace bench
