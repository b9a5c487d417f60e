// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Places the buffers of a schedule in one workspace. Buffers that exist at the same time do not overlap, and
/// the workspace is as small as possible.
///
///     taken and given back    +a +b -a +c -b -c
///     in the workspace        [a][b ]  then  [c ][b ]

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::planner {

/// A buffer. It exists from before action number `taken` until before action number `given_back`.
struct buffer {
  std::int64_t elements = 0;
  int taken = 0;
  int given_back = 0;
  std::int64_t at = -1;  ///< place in the workspace; −1: not placed yet

  [[nodiscard]] std::int64_t end() const { return at + elements; }
  [[nodiscard]] bool coexists_with(buffer const& other) const {
    return taken < other.given_back && other.taken < given_back;
  }
};

namespace detail {

// The time at which the most elements exist, and their number.
struct peak {
  std::int64_t elements = 0;
  int when = 0;

  [[nodiscard]] bool has(buffer const& b) const { return b.taken <= when && when < b.given_back; }
};

[[gnu::cold]] inline peak find_peak(dynamic_array<buffer> const& buffers) {
  peak most;
  for (buffer const& b : buffers) {
    peak now{0, b.taken};
    for (buffer const& other : buffers) now.elements += now.has(other) ? other.elements : 0;
    if (now.elements > most.elements) most = now;
  }
  return most;
}

// Places a buffer at the first multiple of `unit` where it fits during its whole lifetime.
[[gnu::cold]] inline void place_one(buffer& next, dynamic_array<buffer> const& buffers, std::int64_t unit) {
  std::int64_t at = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (buffer const& other : buffers)
      if (other.at >= 0 && next.coexists_with(other) && at < other.end() && other.at < at + next.elements) {
        at = (other.end() + unit - 1) / unit * unit;
        moved = true;
      }
  }
  next.at = at;
}

// Places the buffers by decreasing measure. Returns the length of the workspace.
template <class Measure>
[[gnu::cold]] std::int64_t place_by(Measure const& measure, dynamic_array<buffer>& buffers, std::int64_t unit) {
  for (buffer& b : buffers) b.at = -1;
  std::int64_t length = 0;
  for (std::size_t count = 0; count < buffers.size(); ++count) {
    buffer* next = nullptr;
    for (buffer& b : buffers)
      if (b.at < 0 && (next == nullptr || measure(b) > measure(*next))) next = &b;
    place_one(*next, buffers, unit);
    length = std::max(length, next->end());
  }
  return length;
}

// Tries every order of a few buffers, until one takes no more than `least`. Returns the length, or −1 if there are too
// many buffers or no order is short enough.
[[gnu::cold]] inline std::int64_t place_by_trial(dynamic_array<buffer>& buffers, std::int64_t least) {
  constexpr std::size_t few = 7;
  dynamic_array<std::size_t> order;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].elements > 0) order.push_back(i);
  if (order.size() > few) return -1;
  do {
    for (buffer& b : buffers) b.at = b.elements > 0 ? -1 : 0;
    std::int64_t length = 0;
    for (std::size_t const i : order) {
      place_one(buffers[i], buffers, 1);
      length = std::max(length, buffers[i].end());
      if (length > least) break;
    }
    if (length <= least) return length;
  } while (std::next_permutation(order.begin(), order.end()));
  return -1;
}

}  // namespace detail

/// Gives each buffer its place and returns the length of the workspace. It tries four orders: the longest buffers
/// first; the longest-lived first; in the order in which they are taken; or the buffers of the peak in that order and
/// then the longest. None of these is best for all schedules. If none of them reaches the lower bound, the number of
/// elements that exist at the peak, it tries all orders of a few buffers. Each buffer begins at a cache line, of `line`
/// elements, unless that takes more memory.
[[gnu::cold]] inline std::int64_t place_buffers(dynamic_array<buffer>& buffers, std::int64_t line) {
  detail::peak const most = detail::find_peak(buffers);
  constexpr int orders = 4;
  auto const place = [&](int order, std::int64_t unit) {
    auto const measure = [&](buffer const& b) -> std::int64_t {
      switch (order) {
        case 0:
          return b.elements;
        case 1:
          return b.given_back - b.taken;
        case 2:
          return -b.taken;
        default:
          return most.has(b) ? INT64_MAX - b.taken : b.elements;
      }
    };
    return detail::place_by(measure, buffers, unit);
  };
  std::int64_t best = -1;
  int best_order = 0;
  std::int64_t best_unit = line;
  for (std::int64_t const unit : {line, std::int64_t(1)})
    for (int order = 0; order < orders; ++order) {
      std::int64_t const length = place(order, unit);
      if (length == most.elements) return length;
      if (best >= 0 && length >= best) continue;
      best = length;
      best_order = order;
      best_unit = unit;
    }
  if (std::int64_t const length = detail::place_by_trial(buffers, most.elements); length >= 0) return length;
  return place(best_order, best_unit);
}

}  // namespace ostraka::planner
