// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The bytes that the program under test sends, measured below it: byte_counter.cpp stands between it and MPI (MPI's
/// profiling interface). The convention is that of plans: an all-gather counts the bytes that a device receives from
/// others, point-to-point messages (exchanges and reduce-scatters) those that it sends to others, an all-reduce of V
/// bytes over n devices 2(n−1)V in total. Messages of a rank to itself count nothing, and neither does the
/// communication of this header. Without MPI all counts are zero.

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace ostraka::testing {

/// Traffic of one rank, or of all of them together.
struct traffic {
  std::int64_t bytes = 0;
  std::int64_t calls = 0;  ///< of MPI functions that communicate, also those that move no bytes
};

/// Keeps ranks from comparing their calls (OSTRAKA_CHECK_SPMD), which programs without NDEBUG do by default, so that
/// only operations send bytes. Call it before you make ostraka::environment.
inline void count_operations_alone() { ::setenv("OSTRAKA_CHECK_SPMD", "0", 1); }

/// The traffic of this rank since the program began. The first member counts an all-reduce for all members.
traffic traffic_so_far();

/// Communicators that this rank has made and not freed; 0 without MPI.
long communicators_alive();

/// The sum over MPI_COMM_WORLD. Collective, uncounted.
traffic sum_over_ranks(traffic mine);

/// The traffic of `f`, all ranks together. Collective.
template <class F>
traffic traffic_of(F&& f) {
  traffic const before = traffic_so_far();
  f();
  traffic const after = traffic_so_far();
  return sum_over_ranks({after.bytes - before.bytes, after.calls - before.calls});
}

/// Every rank's bytes in the order of ranks, of any length. Collective, uncounted.
std::vector<std::vector<char>> bytes_of_ranks(std::vector<char> const& mine);

/// Every rank's number. Collective, uncounted.
std::vector<std::int64_t> numbers_of_ranks(std::int64_t mine);

}  // namespace ostraka::testing
