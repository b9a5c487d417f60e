// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-to-all with a count for every pair: every device sends every other exactly what that one lacks. A[I_X,
/// J] -> A[I, J_X].

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/collectives/message.hpp>
#include <ostraka/engine/kernels/strided.hpp>

namespace ostraka::engine {

/// What one member of a group is sent and sends: runs of elements, or strided blocks.
template <class T>
struct exchanged {
  T const* send;
  std::int64_t sent;
  T* receive;
  std::int64_t received;
  bool sends_block = false;
  bool receives_block = false;
};

/// parts[d] is what goes to member d and what comes from there, wherever that lies; what is sent from here to d is
/// received there from here. Of the own part nothing is done; `meanwhile()` may, while the messages are under way.
/// Pairs that exchange nothing send no message. block_sent(d) and block_received(d) are the layouts of what is a block.
template <class T, class Sent, class Received, class Meanwhile>
void exchange(communicator const& members, [[maybe_unused]] exchanged<T> const* parts,
              [[maybe_unused]] Sent const& block_sent, [[maybe_unused]] Received const& block_received,
              Meanwhile const& meanwhile) {
  members.enter();
#if OSTRAKA_ENABLE_MPI
  // Step s pairs everyone with the member s further on, so that no device is everybody's first. All devices close a
  // window of steps before the next: that bounds the messages under way.
  constexpr int window = 32;
  int const n = members.size();
  detail::messages pending(members);
  for (int step = 1; step < n; ++step) {
    int const before = (members.rank() + n - step) % n;
    int const after = (members.rank() + step) % n;
    exchanged<T> const& comes = parts[before];
    exchanged<T> const& goes = parts[after];
    comes.receives_block ? pending.receive(before, comes.receive, block_received(static_cast<std::size_t>(before)))
                         : pending.receive(before, comes.receive, comes.received);
    goes.sends_block ? pending.send(after, goes.send, block_sent(static_cast<std::size_t>(after)))
                     : pending.send(after, goes.send, goes.sent);
    if (step % window == 0) pending.wait();
  }
#endif
  meanwhile();
}

}  // namespace ostraka::engine
