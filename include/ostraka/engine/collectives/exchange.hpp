// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-to-all with a count for every pair: every device sends every other exactly what that one lacks.
/// A[I_X, J] -> A[I, J_X]. It is begun, and finished later: between the two a device may compute, and begin others.

#include <algorithm>
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

/// An exchange in flight. parts[d] is what goes to member d and what comes from there, wherever that lies; what is sent
/// from here to d is received there from here. Nothing is done with the own part. Pairs that exchange nothing send no
/// message. block_sent(d) and block_received(d) are the layouts of strided blocks. Until it is finished, parts and what
/// they send stay as they are, and what they receive is not touched.
/// Members begin the collectives of a group in the same order, and finish them in the same order.
template <class T, class Sent, class Received>
class exchange_in_flight {
 public:
  exchange_in_flight(communicator const& members, exchanged<T> const* parts, Sent const& block_sent,
                     Received const& block_received)
      : members_(members),
        parts_(parts),
        block_sent_(block_sent),
        block_received_(block_received)
#if OSTRAKA_ENABLE_MPI
        ,
        pending_(members)
#endif
  {
    members.enter();
#if OSTRAKA_ENABLE_MPI
    post_window();
#endif
  }

  void finish() {
#if OSTRAKA_ENABLE_MPI
    pending_.wait();
    while (step_ < members_.size()) {
      post_window();
      pending_.wait();
    }
#endif
  }

 private:
#if OSTRAKA_ENABLE_MPI
  // Step s pairs everyone with the member s further on, so that no device is everybody's first. All devices close a
  // window of steps before the next: that bounds the messages under way.
  static constexpr int window = 32;

  void post_window() {
    int const n = members_.size();
    for (int const end = std::min(step_ + window, n); step_ < end; ++step_) {
      int const before = (members_.rank() + n - step_) % n;
      int const after = (members_.rank() + step_) % n;
      exchanged<T> const& comes = parts_[before];
      exchanged<T> const& goes = parts_[after];
      comes.receives_block
          ? pending_.receive(before, comes.receive, block_received_(static_cast<std::size_t>(before)))
          : pending_.receive(before, comes.receive, comes.received);
      goes.sends_block ? pending_.send(after, goes.send, block_sent_(static_cast<std::size_t>(after)))
                       : pending_.send(after, goes.send, goes.sent);
    }
  }
#endif

  communicator const& members_;
  exchanged<T> const* parts_;
  Sent const& block_sent_;
  Received const& block_received_;
#if OSTRAKA_ENABLE_MPI
  detail::messages pending_;
  int step_ = 1;
#endif
};

/// All of it at once; `meanwhile()` may do something of its own while the messages are under way.
template <class T, class Sent, class Received, class Meanwhile>
void exchange(communicator const& members, exchanged<T> const* parts, Sent const& block_sent,
              Received const& block_received, Meanwhile const& meanwhile) {
  exchange_in_flight<T, Sent, Received> under_way(members, parts, block_sent, block_received);
  meanwhile();
  under_way.finish();
}

}  // namespace ostraka::engine
