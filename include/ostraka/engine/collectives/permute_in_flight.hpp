// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Permute: every member of a group sends to one other at most and receives from one at most. Who sends to
/// whom is a list of hops, 0 → 1, 1 → 2, the same on all members, or a shift, cyclic. It is begun, and finished later:
/// between the two a device may compute, and begin others.

#include <string>

#include <ostraka/engine/collectives/exchange_in_flight.hpp>
#include <ostraka/engine/groups/message.hpp>
#include <ostraka/types/support/join_text.hpp>
#include <ostraka/types/values/permutation.hpp>

namespace ostraka::engine {

/// Where a member's block goes, and where its new one comes from; -1 for nowhere.
struct hops_here {
  int to = -1;
  int from = -1;
};

/// Who sends to whom. The hops are somewhere else.
struct permutation_view {
  hop const* hops = nullptr;  ///< null: everyone sends to the member so many further on
  int count = 0;
  int shift = 0;

  [[nodiscard]] static constexpr permutation_view by(int shift) { return {nullptr, 0, shift}; }

  [[nodiscard]] constexpr hops_here of(int member, int members) const {
    hops_here here;
    if (hops == nullptr) {
      int const k = (shift % members + members) % members;
      return {(member + k) % members, (member + members - k) % members};
    }
    for (int i = 0; i < count; ++i) {
      if (hops[i].from == member) here.to = hops[i].to;
      if (hops[i].to == member) here.from = hops[i].from;
    }
    return here;
  }

  /// The first hop that is wrong: it names a member that is not there, or sends from or to a member as an earlier one
  /// does. -1 if none is. Without a number of members only the last two are looked for.
  [[nodiscard]] constexpr int wrong_hop(int members = -1) const {
    for (int i = 0; i < count; ++i) {
      if (hops[i].from < 0 || hops[i].to < 0) return i;
      if (members >= 0 && (hops[i].from >= members || hops[i].to >= members)) return i;
      for (int earlier = 0; earlier < i; ++earlier)
        if (hops[earlier].from == hops[i].from || hops[earlier].to == hops[i].to) return i;
    }
    return -1;
  }

  /// `0 → 1, 1 → 2`, `by +1`
  [[nodiscard, gnu::cold]] std::string describe() const {
    if (hops == nullptr) return join_text("by ", shift < 0 ? "" : "+", shift);
    if (count == 0) return "nowhere";
    std::string text;
    for (int i = 0; i < count; ++i) append_text(text, i == 0 ? "" : ", ", hops[i].from, " → ", hops[i].to);
    return text;
  }
};

/// A permute in flight. Members begin the collectives of a group in the same order; between beginning and end, what is
/// sent stays as it is and what is received is not touched.
template <class T>
class permute_in_flight {
 public:
  /// What `part` sends goes to member `here.to`, and what it receives comes from `here.from`; both know how much it is.
  /// Nothing is done with a part that stays, or has nowhere to go or to come from.
  [[gnu::cold]] void begin(communicator const& members, hops_here here, exchanged<T> const& part) {
    both_.begin(members, collective::permute);
    if (here.from >= 0 && here.from != members.rank())
      part.block_received != nullptr ? both_.pending.receive(here.from, part.receive, *part.block_received)
                                     : both_.pending.receive(here.from, part.receive, part.received);
    if (here.to >= 0 && here.to != members.rank())
      part.block_sent != nullptr ? both_.pending.send(here.to, part.send, *part.block_sent)
                                 : both_.pending.send(here.to, part.send, part.sent);
  }

  /// Goes on without waiting; would finish() not wait either?
  [[gnu::cold]] bool test() { return both_.test(); }
  [[gnu::cold]] void finish() { both_.finish(); }

 private:
  detail::counted_messages both_;
};

}  // namespace ostraka::engine
