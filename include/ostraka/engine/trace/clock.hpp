// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. One clock for the ranks of a job. A rank's time on it is the time of its own clock plus the offset to rank
/// 0's clock. Round-trip messages measure the offset at the beginning and at the end of a trace; in between it is
/// interpolated linearly.

#include <chrono>
#include <cstdint>

#include <ostraka/engine/groups/communicator.hpp>

namespace ostraka::engine {

/// Returns the nanoseconds of this process' monotonic clock.
[[nodiscard]] inline std::int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The offset from this rank's clock to rank 0's, measured at time `at` of this clock, with an error of at most
/// `within`.
struct clock_reading {
  std::int64_t at = 0;
  std::int64_t offset = 0;
  std::int64_t within = 0;
};

/// Returns the reading of this rank's clock. Collective over these ranks. The shortest of several round trips is the
/// most precise, since it bounds the travel time of its answer. An offset within the error counts as 0: ranks on one
/// node share a clock.
[[gnu::cold]] inline clock_reading read_clock(communicator const& ranks) {
  clock_reading reading{nanoseconds(), 0, 0};
  constexpr int trips = 16, tag = 0;
  int const rank = ranks.rank(), size = ranks.size();
  carrier::group::requests begun;
  std::int64_t answer = 0;
  auto const send = [&](int to, std::int64_t const& number) {
    ranks.carried()->send(to, tag, &number, 1, begun);
    begun.wait();
  };
  auto const receive = [&](int from) {
    ranks.carried()->receive(from, tag, &answer, 1, begun);
    begun.wait();
  };
  for (int other = rank == 0 ? 1 : rank; other < size; other = rank == 0 ? other + 1 : size)
    for (int trip = 0; trip < trips; ++trip) {
      if (rank == 0) {
        receive(other);
        send(other, nanoseconds());
      } else {
        std::int64_t const asked = nanoseconds();
        send(0, asked);
        receive(0);
        std::int64_t const answered = nanoseconds();
        std::int64_t const half = (answered - asked) / 2;
        if (trip == 0 || half < reading.within) reading = {asked + half, answer - (asked + half), half};
      }
    }
  if (reading.offset <= reading.within && reading.offset >= -reading.within) reading.offset = 0;
  return reading;
}

/// Converts times of this rank to times of rank 0's clock.
struct common_clock {
  clock_reading first, last;

  [[nodiscard]] std::int64_t of(std::int64_t at) const {
    if (last.at <= first.at) return at + first.offset;
    double const part = static_cast<double>(at - first.at) / static_cast<double>(last.at - first.at);
    return at + first.offset + static_cast<std::int64_t>(part * static_cast<double>(last.offset - first.offset));
  }
  [[nodiscard]] std::int64_t within() const { return first.within > last.within ? first.within : last.within; }
};

}  // namespace ostraka::engine
