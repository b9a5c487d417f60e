// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Passes blocks between members of a group from turn to turn, like the stages of a pipeline. A block sent in
/// one turn arrives in the next, and in between every member computes. All members know the senders and receivers.
///
///     relay<Exec, T> messages(exec, members);
///     for each turn:
///       messages.arrive();                       the blocks sent in the previous turn have arrived
///       messages.receive(from, next, count);     of this turn
///       …
///       messages.send(to, made, count);          made stays unchanged until arrive() has been called twice

#include <cstdint>

#include <ostraka/engine/groups/device_messages.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>

namespace ostraka::engine {

/// The messages of all turns. Members construct it at the same time. Two members list the blocks between them in the
/// same order. It waits for sends one turn later than for receives, so that a member that is ahead does not wait for
/// the next one.
template <class Exec, class T>
class relay {
 public:
  relay(Exec const& exec, communicator const& members) : exec_(exec), members_(members) {
    members.enter();
    int const tag = members.next_tag();
    arrays_.begin(exec_);
    for (turn& t : turns_) {
      t.sends.on(arrays_);
      t.receives.on(arrays_);
      t.sends.begin(members, tag, counted_);
      t.receives.begin(members, tag, counted_);
    }
    counted_.begin(members_, collective::permute);
  }
  relay(relay const&) = delete;
  relay& operator=(relay const&) = delete;

  /// Ends a turn, after which the blocks received in it have arrived. `wait(messages)` waits for them.
  template <class Wait>
  void arrive(Wait const& wait) {
    counted_.wait();
    wait(turns_[now_].receives);
    counted_.begin(members_, collective::permute);  // this ends the previous collective
    now_ = 1 - now_;
    wait(turns_[now_].sends);
    fence_on_host(exec_, arrays_);
  }

  void arrive() {
    arrive([](auto& some) { some.wait(); });
  }

  void receive(int from, T* data, std::int64_t count) {
    turns_[now_].receives.receive(from, data, count);
    turns_[now_].receives.flush();
  }

  void send(int to, T const* data, std::int64_t count) {
    fence_before_messages(exec_);
    turns_[now_].sends.send(to, data, count);
    turns_[now_].sends.flush();
  }

 private:
  Exec exec_;
  communicator const& members_;
  counted_collective counted_;
  [[no_unique_address]] arrays_of<Exec> arrays_;
  struct turn {
    detail::messages_by_host_on<arrays_of<Exec>> sends, receives;
  };

  turn turns_[2];  // after the arrays: their destructor waits
  int now_ = 0;
};

}  // namespace ostraka::engine
