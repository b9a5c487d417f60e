// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// How long a cache line takes from rank 0 to rank 1 of one node: whether their cores share a cache. Those of a virtual
/// machine do or do not, by where its host has put them for the moment, and messages between them take many times as
/// long if not. Two that compute without a
/// pause are moved apart more often than two that have just begun. With a limit, benchmarks measure while a line is
/// within it; without, whenever they come.

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>

namespace bench {

class line_between_ranks {
 public:
  /// The one of this process. All ranks ask it together.
  static line_between_ranks& instance() {
    static line_between_ranks it;
    return it;
  }

  /// From here on samples count while a line takes so many nanoseconds at most, or at least if they are negative; all
  /// samples together wait for that for so many seconds at most.
  void limit(double nanoseconds, double patience) {
    limit_ = nanoseconds;
    patience_ = patience;
  }
  [[nodiscard]] bool has_limit() const { return limit_ != 0 && flag_ != nullptr; }

  /// Is it within the limit, or is patience at an end? The same on all ranks.
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

  /// "a cache line took 25 to 180 ns"; and whether it was waited for in vain.
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
