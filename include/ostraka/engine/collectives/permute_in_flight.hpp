// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Permute: every member of a group sends to at most one other and receives from at most one. It is described
/// by a list of hops (0 → 1, 1 → 2), the same on all members, or by a cyclic shift. It begins, and is finished later;
/// in between, a device may compute and begin other collectives.

#include <string>

#include <ostraka/engine/collectives/exchange_in_flight.hpp>
#include <ostraka/engine/groups/device_messages.hpp>
#include <ostraka/types/support/join_text.hpp>
#include <ostraka/types/values/permutation.hpp>

namespace ostraka::engine {

/// The receiver of a member's block, and the sender of its new one; -1 for none.
struct hops_here {
  int to = -1;
  int from = -1;
};

/// The senders and receivers. It refers to a list of hops, and does not own it.
struct permutation_view {
  hop const* hops = nullptr;  ///< null: every member sends to the one `shift` further on
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

  /// Returns the first wrong hop, or -1: it names a member that does not exist, or sends from or to the same member as
  /// an earlier one. Without a number of members only the latter is checked.
  [[nodiscard]] constexpr int wrong_hop(int members = -1) const {
    for (int i = 0; i < count; ++i) {
      if (hops[i].from < 0 || hops[i].to < 0) return i;
      if (members >= 0 && (hops[i].from >= members || hops[i].to >= members)) return i;
      for (int earlier = 0; earlier < i; ++earlier)
        if (hops[earlier].from == hops[i].from || hops[earlier].to == hops[i].to) return i;
    }
    return -1;
  }

  /// Returns `0 → 1, 1 → 2`, or `by +1`.
  [[nodiscard, gnu::cold]] std::string describe() const {
    if (hops == nullptr) return join_text("by ", shift < 0 ? "" : "+", shift);
    if (count == 0) return "nowhere";
    std::string text;
    for (int i = 0; i < count; ++i) append_text(text, i == 0 ? "" : ", ", hops[i].from, " → ", hops[i].to);
    return text;
  }
};

/// A permute in flight. Members begin the collectives of a group in the same order; between beginning and end, do not
/// change the data sent, and do not access the memory received.
template <class T, class Arrays = host_arrays>
class permute_in_flight {
 public:
  /// Sets the arrays. Call it before the permute begins, unless the arrays are on the host.
  void on(Arrays& arrays) { both_.pending.on(arrays); }

  /// Sends `part` to member `here.to`, and receives from `here.from`; both know its length. It ignores a part that
  /// stays here, or that has no receiver or no sender.
  [[gnu::cold]] void begin(communicator const& members, hops_here here, exchanged<T> const& part) {
    both_.begin(members, collective::permute);
    if (here.from >= 0 && here.from != members.rank()) detail::receive_part(both_.pending, here.from, part);
    if (here.to >= 0 && here.to != members.rank()) detail::send_part(both_.pending, here.to, part);
    both_.pending.flush();
  }

  /// Makes progress without waiting. True if finish() would not wait either.
  [[gnu::cold]] bool test() { return both_.test(); }
  [[gnu::cold]] void finish() { both_.finish(); }

 private:
  detail::counted_messages<Arrays> both_;
};

}  // namespace ostraka::engine
