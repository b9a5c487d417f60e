// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A lowering that only counts: elements held at once, copied and moved. It keeps no lists, so it can run at
/// compile time.

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/lowering/actions.hpp>

namespace ostraka::planner {

/// A buffer of a schedule. Empty buffers have a number as well.
struct buffer_taken {
  int number = -1;  ///< none
  std::int64_t elements = 0;
};

/// A writer that counts a device's actions; `schedule` is the other writer.
struct tally {
  static constexpr bool keeps = false;

  std::int64_t held = 0;
  std::int64_t peak = 0;
  std::int64_t copied = 0;
  std::int64_t moved = 0;
  int buffers = 0;

  constexpr buffer_taken take(std::int64_t elements) {
    held += elements;
    peak = std::max(peak, held);
    return {first_own_buffer + buffers++, elements};
  }
  constexpr void give_back(buffer_taken const& b) { held -= b.elements; }

  constexpr void copy(buffer_block const& to, buffer_block const&, scaling) { copied += to.where.size(); }
  constexpr void copy_elements(std::int64_t count) { copied += count; }
  constexpr void fill(buffer_block const&, factor, reduction) {}
  constexpr void start(message const& m) { moved += m.moved; }
  constexpr void finish() {}
  constexpr void begin_stage(int, int) {}
};

}  // namespace ostraka::planner
