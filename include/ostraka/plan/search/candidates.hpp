// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The shardings that a tensor of a plan can have, each with the least price at which it has it: a small table
/// that constant expressions can bear.

#include <ostraka/plan/search/layout.hpp>

namespace ostraka::planner::detail {

// A sharding that a tensor can have, and the least price of that.
struct candidate {
  layout at;
  layout partition;  // of the product that makes the tensor
  double price;      // of moves and work together (price.hpp)
  double volume;  // elements moved, added over all devices
  double work;    // multiplications, likewise
  int touched;    // tensors that are not taken as they are
  int turn;       // of the partition in the order of the search
  bool moved;     // is the tensor itself not taken as it is?
};

// The least price, then fewest elements moved, then least work, then fewest tensors touched, then the first.
constexpr bool precedes(candidate const& a, candidate const& b) {
  return a.price != b.price       ? a.price < b.price
         : a.volume != b.volume   ? a.volume < b.volume
         : a.work != b.work       ? a.work < b.work
         : a.touched != b.touched ? a.touched < b.touched
                                  : a.turn < b.turn;
}

// As many as a tensor of four labels has shardings over three mesh axes (of eight over two: 108); of more, the best are
// kept.
inline constexpr int most_candidates = 320;

class candidates {
 public:
  int count = 0;
  candidate item[most_candidates];  // only the first `count` are there

  constexpr void clear() {
    count = 0;
    first_place_ += most_candidates;
  }

  // Its place, or −1. Not after sorting.
  [[nodiscard]] constexpr int find(layout at) const {
    if (count == most_candidates) return find_in_full(at);
    unsigned s = static_cast<unsigned>((at ^ at >> 37) % hashes);
    while (slot_[s] >= first_place_ && item[slot_[s] - first_place_].at != at) s = (s + 1) % slots;
    return slot_[s] >= first_place_ ? slot_[s] - first_place_ : -1;
  }

  // @pre not there, and count < most_candidates
  constexpr candidate& add(candidate const& c) {
    unsigned s = static_cast<unsigned>((c.at ^ c.at >> 37) % hashes);
    while (slot_[s] >= first_place_) s = (s + 1) % slots;
    slot_[s] = first_place_ + count;
    item[count] = c;
    return item[count++];
  }

  // Keeps the best of each sharding, and of all as many as there is room for. False if it is no news.
  [[gnu::cold]] constexpr bool offer(candidate const& c) {
    if (count < most_candidates) {
      unsigned s = static_cast<unsigned>((c.at ^ c.at >> 37) % hashes);
      while (slot_[s] >= first_place_ && item[slot_[s] - first_place_].at != c.at) s = (s + 1) % slots;
      int const known = slot_[s] - first_place_;
      if (known >= 0 && !precedes(c, item[known])) return false;
      if (known < 0) slot_[s] = first_place_ + count++;
      item[known >= 0 ? known : count - 1] = c;
      return true;
    }
    int at = find_in_full(c.at);
    if (at < 0) {
      at = 0;
      for (int i = 1; i < count; ++i)
        if (precedes(item[at], item[i])) at = i;
    }
    if (!precedes(c, item[at])) return false;
    item[at] = c;
    return true;
  }

  [[gnu::cold]] constexpr void sort() {
    for (int i = 1; i < count; ++i) {
      candidate const c = item[i];
      int k = i;
      for (; k > 0 && precedes(c, item[k - 1]); --k) item[k] = item[k - 1];
      item[k] = c;
    }
  }

 private:
  static constexpr unsigned slots = 512;

  static constexpr unsigned hashes = 509;  // by it, whoever differs in one mesh axis is apart

  [[nodiscard]] constexpr int find_in_full(layout at) const {
    for (int i = 0; i < count; ++i)
      if (item[i].at == at) return i;
    return -1;
  }

  int first_place_ = 1;  // what a slot of this filling holds at least
  int slot_[slots]{};
};

}  // namespace ostraka::planner::detail
