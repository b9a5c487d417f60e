// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-to-all with a count for every pair: every device sends every other device exactly the elements that it
/// lacks. A[I_X, J] -> A[I, J_X]. It begins, and is finished later; in between, a device may compute and begin other
/// collectives.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/groups/device_messages.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/plan/lowering/actions.hpp>

namespace ostraka::engine {

/// The data exchanged with one member of a group: runs of elements, or strided blocks if a layout is given.
template <class T>
struct exchanged {
  T const* send;
  std::int64_t sent;
  T* receive;
  std::int64_t received;
  strided const* block_sent = nullptr;
  strided const* block_received = nullptr;
};

namespace detail {

/// Blocks that are not runs are on the host, since kernels pack those in other memory.
template <class T, class Messages>
void receive_part(Messages& with, int from, exchanged<T> const& part) {
  if constexpr (std::is_same_v<Messages, messages>)
    if (part.block_received != nullptr) return with.receive(from, part.receive, *part.block_received);
  with.receive(from, part.receive, part.received);
}
template <class T, class Messages>
void send_part(Messages& with, int to, exchanged<T> const& part) {
  if constexpr (std::is_same_v<Messages, messages>)
    if (part.block_sent != nullptr) return with.send(to, part.send, *part.block_sent);
  with.send(to, part.send, part.sent);
}

}  // namespace detail

/// An exchange in flight. Members begin the collectives of a group in the same order, and finish them in the same
/// order. In between, do not change the data sent, and do not access the memory received.
template <class T, class Arrays = host_arrays>
class exchange_in_flight {
 public:
  /// Sets the arrays. Call it before the exchange begins, unless the arrays are on the host.
  void on(Arrays& arrays) { pending_.on(arrays); }

  /// parts[d] describes the data sent to member d and received from it, anywhere in memory. Member d expects as many
  /// elements from this member as this member sends to it. This member's own part is ignored. Pairs that exchange
  /// nothing send no message. The parts and their layouts must stay valid until the end.
  [[gnu::cold]] void begin(communicator const& members, exchanged<T> const* parts) {
    members.enter();
    counted_.begin(members, collective::exchange);
    pending_.begin(members, counted_);
    members_ = &members;
    parts_ = parts;
    step_ = 1;
    post_window();
    if (pending_.in_order) test();  // all steps are launched now, in the same order on all members
  }

  /// Counts the messages of an exchange without running it; `runs` describes the members in runs. `strided_elements` of
  /// the elements sent and received are in rows, whether Ostraka or the transport packs them. @pre the group is dry
  [[gnu::cold]] void price(communicator const& members, planner::repeated_sends const* runs, int count,
                           std::int64_t strided_elements) {
    members.enter();
    counted_.begin(members, collective::exchange);
    pending_.begin(members, counted_);
    members_ = &members;
    step_ = members.size();
    std::int64_t elements = 0, messages = 0;
    for (planner::repeated_sends const* r = runs; r != runs + count; ++r) {
      elements += r->members * r->elements;
      messages += r->members * (r->at_once ? 1 : (r->elements + chunk_limit - 1) / chunk_limit);
    }
    constexpr std::int64_t width = sizeof(T);
    counted_.add_packed(strided_elements * width);
    auto const sent_to = [&](int member) {
      for (planner::repeated_sends const* r = runs; r != runs + count; ++r)
        if (r->has(member)) return r->elements * width;
      return std::int64_t{0};
    };
    if (elements > 0) counted_.add_of_each(elements * width, sent_to, messages);
  }

  /// Counts elements in rows that the caller packs.
  void add_rows(std::int64_t elements) { counted_.add_packed(elements * static_cast<std::int64_t>(sizeof(T))); }

  /// Makes progress without waiting. True if finish() would not wait either.
  [[gnu::cold]] bool test() {
    while (pending_.test()) {
      if (step_ >= members_->size()) return true;
      post_window();
    }
    return false;
  }

  [[gnu::cold]] void finish() {
    counted_.wait();
    pending_.wait();
    while (step_ < members_->size()) {
      post_window();
      pending_.wait();
    }
    counted_.end();
  }

 private:
  // In step s every member sends to the member s further on, so that not all members send to the same device first. All
  // devices finish a window of steps before the next, which bounds the messages in flight.
  static constexpr int window = 32;

  void post_window() {
    int const n = members_->size();
    for (int const end = std::min(step_ + window, n); step_ < end; ++step_) {
      int const before = (members_->rank() + n - step_) % n;
      int const after = (members_->rank() + step_) % n;
      exchanged<T> const& comes = parts_[before];
      exchanged<T> const& goes = parts_[after];
      detail::receive_part(pending_, before, comes);
      detail::send_part(pending_, after, goes);
    }
    pending_.flush();
  }

  communicator const* members_ = nullptr;
  exchanged<T> const* parts_ = nullptr;
  int step_ = 1;
  counted_collective counted_;
  detail::messages_on<Arrays> pending_;
};

/// Runs a whole exchange; `meanwhile()` may do work of its own while the messages are in flight. The caller fences
/// `arrays`.
template <class T, class Arrays, class Meanwhile>
void exchange(communicator const& members, Arrays& arrays, exchanged<T> const* parts, Meanwhile const& meanwhile) {
  exchange_in_flight<T, Arrays> in_flight;
  in_flight.on(arrays);
  in_flight.begin(members, parts);
  meanwhile();
  in_flight.finish();
}

/// The same for arrays on the host.
template <class T, class Meanwhile>
void exchange(communicator const& members, exchanged<T> const* parts, Meanwhile const& meanwhile) {
  host_arrays here;
  exchange(members, here, parts, meanwhile);
}

}  // namespace ostraka::engine
