// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The shardings that a tensor of a plan can have, each with its least price: a table small enough for
/// constant expressions.

#include <ostraka/plan/search/layout.hpp>

namespace ostraka::planner::detail {

// A sharding that a tensor can have, and its least price.
struct candidate {
  layout at;
  layout partition;   // work partition of the product that makes the tensor
  double price;       // of moves and work together (price.hpp)
  double volume;      // elements moved, added over all devices
  double work;        // multiplications, likewise
  int moved_tensors;  // number of tensors that are moved
  int sequence;       // the number of the partition in the order of the search
  bool moved;         // true if the tensor itself is moved
};

// Orders by price, then elements moved, then work, then tensors moved, then sequence; the smaller comes first.
constexpr bool precedes(candidate const& a, candidate const& b) {
  return a.price != b.price                   ? a.price < b.price
         : a.volume != b.volume               ? a.volume < b.volume
         : a.work != b.work                   ? a.work < b.work
         : a.moved_tensors != b.moved_tensors ? a.moved_tensors < b.moved_tensors
                                              : a.sequence < b.sequence;
}

// The number of shardings of a tensor of four labels over three mesh axes (eight labels over two: 108). If a tensor has
// more, only the best are kept.
inline constexpr int most_candidates = 320;

class candidates {
 public:
  int count = 0;
  candidate item[most_candidates];  // only the first `count` exist

  constexpr void clear() {
    count = 0;
    first_place_ += most_candidates;
  }

  // The position of a sharding, or −1. Do not call it after sorting.
  [[nodiscard]] constexpr int find(layout at) const {
    if (count == most_candidates) return find_in_full(at);
    unsigned s = static_cast<unsigned>((at ^ at >> 37) % hashes);
    for (int place = slot_[s] - first_place_; place >= 0; place = slot_[s] - first_place_) {
      if (item[place].at == at) return place;
      s = (s + 1) % slots;
    }
    return -1;
  }

  // @pre the sharding is new, and count < most_candidates
  constexpr candidate& add(candidate const& c) {
    unsigned s = static_cast<unsigned>((c.at ^ c.at >> 37) % hashes);
    while (slot_[s] >= first_place_) s = (s + 1) % slots;
    slot_[s] = first_place_ + count;
    item[count] = c;
    return item[count++];
  }

  // Keeps the best candidate of each sharding, and the best shardings if there are too many. Returns false if it keeps
  // nothing new.
  [[gnu::cold]] constexpr bool offer(candidate const& c) {
    if (count < most_candidates) {
      unsigned s = static_cast<unsigned>((c.at ^ c.at >> 37) % hashes);
      int known = slot_[s] - first_place_;
      for (; known >= 0 && item[known].at != c.at; known = slot_[s] - first_place_) s = (s + 1) % slots;
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
      double const price = c.price;
      int k = i;
      for (; k > 0; --k) {
        double const before = item[k - 1].price;
        if (before < price || (before == price && !precedes(c, item[k - 1]))) break;
        item[k] = item[k - 1];
      }
      item[k] = c;
    }
  }

 private:
  static constexpr unsigned slots = 512;

  static constexpr unsigned hashes = 509;  // separates layouts that differ in one mesh axis

  [[nodiscard]] constexpr int find_in_full(layout at) const {
    for (int i = 0; i < count; ++i)
      if (item[i].at == at) return i;
    return -1;
  }

  int first_place_ = 1;  // slots with a lower number belong to an earlier filling
  int slot_[slots]{};
};

}  // namespace ostraka::planner::detail
