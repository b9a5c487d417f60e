// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The indices of an axis that a device holds under a program's own rule: equal blocks at equal distances. A
/// plain range is a special case. ScaLAPACK deals an axis of 11 over 2 devices in blocks of 2:
///
///     device 0   0 1 | 4 5 | 8 9     first 0, block 2, period 4, end 11
///     device 1   2 3 | 6 7 | 10      first 2
///
/// A range has at most three stretches in common with a comb, however many blocks there are: the end of a block, whole
/// blocks, the beginning of a block. So the plan of an exchange does not grow with the number of blocks.

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/blocks/box.hpp>
#include <ostraka/plan/spec/step.hpp>

namespace ostraka::planner {

/// The first `block` of every `period` indices from `first` on, as long as they are before `end`. Their holder numbers
/// them without the gaps.
struct comb {
  std::int64_t first = 0;
  std::int64_t block = 0;
  std::int64_t period = 1;
  std::int64_t end = 0;

  [[nodiscard]] constexpr std::int64_t size() const {
    std::int64_t const n = end - first;
    return n <= 0 ? 0 : n / period * block + std::min(n % period, block);
  }
};

/// All indices of a range.
[[nodiscard]] constexpr comb comb_of(range r) { return {r.begin, r.size(), r.size() > 0 ? r.size() : 1, r.end}; }

/// The indices of an axis of n that are dealt to device `number` of `ways`, in blocks of this size. ScaLAPACK's numroc
/// is its size().
/// @pre block > 0
[[nodiscard]] constexpr comb dealt(std::int64_t n, std::int64_t number, std::int64_t ways, std::int64_t block) {
  std::int64_t const size = std::min(block, n > 0 ? n : 1);  // a longer block cannot have more indices
  return {number * size, size, ways * size, n};
}

/// `count` runs of `size` indices, `step` apart, from `begin` on. In the numbering of the comb's holder they begin at
/// `local`, `local_step` apart.
struct stretch {
  std::int64_t begin = 0;
  std::int64_t size = 0;
  std::int64_t count = 1;
  std::int64_t step = 0;
  std::int64_t local = 0;
  std::int64_t local_step = 0;

  [[nodiscard]] constexpr std::int64_t elements() const { return count * size; }
};

using stretches = bounded_list<stretch, 3>;

/// The common part of a comb and a range, in ascending order.
[[nodiscard]] constexpr stretches common_stretches(comb const& c, range wanted) {
  stretches found;
  range const r = intersect(wanted, {c.first, c.end});
  if (r.size() == 0 || c.block == 0) return found;
  std::int64_t const k = (r.begin - c.first) / c.period, last = (r.end - 1 - c.first) / c.period;
  auto const part = [&](std::int64_t number) {
    std::int64_t const begin = c.first + number * c.period;
    return intersect(r, {begin, begin + c.block});
  };
  auto const add = [&](range p, std::int64_t number, std::int64_t count) {
    if (p.size() > 0 && count > 0)
      found.push_back(
          {p.begin, p.size(), count, c.period, number * c.block + p.begin - (c.first + number * c.period), c.block});
  };
  range const head = part(k), tail = part(last);
  if (k == last) {
    add(head, k, 1);
    return found;
  }
  std::int64_t const from = head.size() == c.block ? k : k + 1;
  std::int64_t const to = tail.size() == c.block ? last + 1 : last;
  if (from > k) add(head, k, 1);
  add(part(from), from, to - from);
  if (to <= last) add(tail, last, 1);
  return found;
}

}  // namespace ostraka::planner
