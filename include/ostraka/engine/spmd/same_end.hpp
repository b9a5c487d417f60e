// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Finds the ranks that are about to end for the same reason, so that one of them prints the message for all.
/// Every rank sends a fingerprint of its reason to rank 0. If rank 0 ends, too, it answers each of them with the ranks
/// that end for the same reason. No rank waits long: a rank that gets no answer prints its own message.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <ostraka/engine/carriers/control.hpp>
#include <ostraka/engine/machine/job_of_mpi.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/machine/this_thread.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

#if OSTRAKA_ENABLE_MPI

namespace ostraka::engine {

/// The ranks that end for the same reason as this one.
struct same_end {
  static constexpr int most = 8;

  int speaks = 1;     ///< 1 if this rank prints the message for them
  int count = 1;
  int ranks[most]{};  ///< the first of these ranks
};

namespace detail {

inline constexpr int reason_tag = 1;
inline constexpr int answer_tag = 2;
static_assert(std::is_trivially_copyable_v<same_end>);  // it is sent as bytes

// In seconds: long enough for ranks that fail in the same operation, too short to be noticed.
inline constexpr double rank_0_timeout = 0.25;
inline constexpr double others_timeout = 0.6;

template <class Done>
bool wait_until(Done done, double most) {
  double const end = this_thread::seconds() + most;
  while (!done()) {
    if (this_thread::seconds() > end) return false;
    this_thread::sleep(1000);
  }
  return true;
}

[[gnu::cold]] inline same_end collect_reasons(native_communicator job, int ranks, std::uint64_t mine) {
  dynamic_array<std::uint64_t> reasons(static_cast<std::size_t>(ranks), 0);  // 0: no reason has arrived from this rank
  auto const reason_of = [&](int rank) -> std::uint64_t& { return reasons[static_cast<std::size_t>(rank)]; };
  reason_of(0) = mine;
  int received = 1;
  wait_until(
      [&] {
        for (int from = control::any_member; received < ranks && control::find(job, from, reason_tag); ++received) {
          control::request receiving;
          control::receive(job, from, reason_tag, &reason_of(from), sizeof(std::uint64_t), receiving);
          receiving.wait();
          from = control::any_member;
        }
        return received == ranks;
      },
      rank_0_timeout);

  same_end of_mine;
  for (int first = 0; first < ranks; ++first) {
    std::uint64_t const reason = reason_of(first);
    if (reason == 0) continue;
    same_end e{0, 0, {}};
    for (int r = first; r < ranks; ++r)
      if (reason_of(r) == reason) {
        if (e.count < same_end::most) e.ranks[e.count] = r;
        ++e.count;
      }
    for (int r = first; r < ranks; ++r)
      if (reason_of(r) == reason) {
        reason_of(r) = 0;
        e.speaks = r == first ? 1 : 0;
        if (r == 0) {
          of_mine = e;
        } else {
          control::request answering;
          control::send(job, r, answer_tag, &e, sizeof(e), answering);
          answering.wait();  // it is small, and its receiver waits for it
        }
      }
  }
  return of_mine;
}

}  // namespace detail

/// Compares the reason of this rank with those of other ranks that end now. `job`: a communicator of all ranks for
/// these messages alone.
[[gnu::visibility("default"), gnu::cold]] inline same_end find_same_end(native_communicator job,
                                                                        std::string_view reason) {
  auto const [rank, ranks] = find_place_in_job();
  std::uint64_t fingerprint = 14695981039346656037u;  // FNV-1a; 0 stands for none
  for (char const c : reason) fingerprint = (fingerprint ^ static_cast<unsigned char>(c)) * 1099511628211u;
  fingerprint |= 1;
  if (rank == 0) return detail::collect_reasons(job, ranks, fingerprint);

  static std::uint64_t sent;  // static, since messages without an answer may outlive this call
  static same_end answer;
  sent = fingerprint;
  control::request sending, answering;
  control::receive(job, 0, detail::answer_tag, &answer, sizeof(answer), answering);
  control::send(job, 0, detail::reason_tag, &sent, sizeof(sent), sending);
  bool const answered = detail::wait_until([&] { return answering.test(); }, detail::others_timeout);
  if (!answered) return {1, 1, {rank}};  // this rank then ends the job, so both requests may stay
  sending.wait();
  return answer;
}

}  // namespace ostraka::engine

#endif
