// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Blocks that members of a group hand on from turn to turn, as the stages of a pipeline do: what is sent in a
/// turn is there in the next one, and in between everybody computes. Who sends to whom all members know.
///
///     handed_on<Exec, T> messages(exec, members);
///     for each turn:
///       messages.arrive();                       what was sent in the turn before is there
///       messages.receive(from, next, count);     of this turn
///       …
///       messages.send(to, made, count);          stays as it is until arrive() has been called twice

#include <cstdint>

#include <ostraka/engine/collectives/message.hpp>
#include <ostraka/engine/kernels/parallel.hpp>
#include <ostraka/engine/moves/on_host.hpp>

namespace ostraka::engine {

/// Members make one at the same time. Two members name what goes from the one to the other in the same order. Sends are
/// waited for a turn later than receives, so that a member which is ahead does not wait for the next one.
template <class Exec, class T>
class handed_on {
 public:
  handed_on([[maybe_unused]] Exec const& exec, communicator const& members) : exec_(exec) {
    members.enter();
#if OSTRAKA_ENABLE_MPI
    int const tag = members.next_tag();
    for (turn& t : turns_) {
      t.sends.begin(members, tag);
      t.receives.begin(members, tag);
    }
#endif
  }
  handed_on(handed_on const&) = delete;
  handed_on& operator=(handed_on const&) = delete;

  /// Ends a turn: what it received is there.
  void arrive() {
#if OSTRAKA_ENABLE_MPI
    turns_[now_].receives.wait();
    turns_[now_].received.bring_back();
    now_ = 1 - now_;
    turns_[now_].sends.wait();
    turns_[now_].received.begin(is_staged<Exec>(host_work::carries));
    turns_[now_].sent.begin(is_staged<Exec>(host_work::carries));
#endif
  }

  void receive([[maybe_unused]] int from, [[maybe_unused]] T* data, [[maybe_unused]] std::int64_t count) {
#if OSTRAKA_ENABLE_MPI
    turns_[now_].receives.receive(from, turns_[now_].received.received(data, count), count);
#endif
  }

  void send([[maybe_unused]] int to, [[maybe_unused]] T const* data, [[maybe_unused]] std::int64_t count) {
#if OSTRAKA_ENABLE_MPI
    fence(exec_);
    turns_[now_].sends.send(to, turns_[now_].sent.sent(data, count), count);
#endif
  }

 private:
  [[maybe_unused]] Exec exec_;
#if OSTRAKA_ENABLE_MPI
  struct turn {
    arrays_for_mpi<Exec, T> sent, received;
    detail::messages sends, receives;  // behind the arrays: they wait where they end
  };

  turn turns_[2];
  int now_ = 0;
#endif
};

}  // namespace ostraka::engine
