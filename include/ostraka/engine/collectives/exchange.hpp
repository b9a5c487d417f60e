// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-to-all with a count for every pair: every device sends every other exactly what that one lacks. A[I_X, J] -> A[I, J_X].

#include <ostraka/engine/collectives/message.hpp>

namespace ostraka::engine {

/// recv holds what the members sent here, send what each member gets, both in member order without gaps; send_counts[d] here is recv_counts of
/// this device on d. The own part is copied. Pairs that exchange nothing send no message.
template <class T>
void exchange(communicator const& members, T const* send, counts_view send_counts, T* recv,
              counts_view recv_counts) {
  short_array<std::int64_t> const from = detail::offsets_of(send_counts);
  short_array<std::int64_t> const to = detail::offsets_of(recv_counts);
  std::size_t const me = static_cast<std::size_t>(members.rank());
  std::copy_n(send + from[me], send_counts[me], recv + to[me]);
  members.enter();
#if OSTRAKA_ENABLE_MPI
  // Step s pairs everyone with the member s further on, so that no device is everybody's first. All devices close a window of steps before the
  // next: that bounds the messages under way.
  constexpr int window = 32;
  int const n = members.size();
  detail::messages pending(members);
  for (int step = 1; step < n; ++step) {
    int const before = (members.rank() + n - step) % n;
    int const after = (members.rank() + step) % n;
    pending.receive(before, recv + to[static_cast<std::size_t>(before)], recv_counts[static_cast<std::size_t>(before)]);
    pending.send(after, send + from[static_cast<std::size_t>(after)], send_counts[static_cast<std::size_t>(after)]);
    if (step % window == 0) pending.wait();
  }
#endif
}

}  // namespace ostraka::engine
