// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The actions of a device when it runs a plan: verbs on blocks in buffers. Slices, fused moves and tensors
/// that are passed on are not actions: they only change the blocks of later actions.
///
///     copy       to <- alpha from + beta to             packs, unpacks, keeps, puts into the result
///     fill       to <- beta to, or the neutral element of a reduction
///     multiply   C <- alpha A B + beta C                a local product, or a part of one
///     reduce     C <- alpha (A, reduced) + beta C
///     start      begins a message: until it finishes, its source is not changed and its target is not touched
///     finish     waits until the message has been sent and received
///     price      the number of copies and fills, and of their elements, in a priced schedule
///
/// Actions contain no pointers. Buffers are numbered: first those of the call's operands and result, then the
/// schedule's own.

#include <cstdint>

#include <ostraka/plan/blocks/contraction_loops.hpp>
#include <ostraka/plan/blocks/strided_block.hpp>
#include <ostraka/plan/spec/step.hpp>

namespace ostraka::planner {

enum class verb : std::uint8_t { copy, fill, multiply, reduce, start, finish, price };

/// A factor: 0, 1, or `given`, the call's alpha or beta.
enum class factor : std::uint8_t { zero, one, given };

/// to <- alpha from + beta to
struct scaling {
  factor alpha = factor::one;
  factor beta = factor::zero;

  [[nodiscard]] constexpr bool overwrites() const { return alpha == factor::one && beta == factor::zero; }
  friend constexpr bool operator==(scaling, scaling) = default;
};

/// The number of the result's buffer. Operands have their own numbers, and the schedule's own buffers follow this
/// number.
inline constexpr int result_buffer = max_operands;
inline constexpr int first_own_buffer = max_operands + 1;

/// An element of a buffer.
struct place {
  int buffer = 0;
  std::int64_t at = 0;

  friend constexpr bool operator==(place, place) = default;
  friend constexpr place operator+(place p, std::int64_t elements) { return {p.buffer, p.at + elements}; }
};

/// The elements of a box, in a buffer.
using buffer_block = strided_block<place>;

/// The loops of a local product or a reduction, and the places where its blocks (left, right, result) begin.
struct product {
  contraction loops{};
  place begin[3]{};
};

/// A message between the members of a group. Gathers and reductions have arrays of parts in member order. In an
/// exchange each pair has blocks of its own.
///
///                         sends                        receives
///     all_gather          its part                     all parts (or all but its own)
///     all_reduce          its array                    in the same place
///     reduce_scatter      all parts (or all but own)   its part, reduced
///     exchanges           a block to each              a block from each
struct message {
  step kind = step::all_gather;
  mesh_set axes{};
  reduction how = reduction::sum;
  scaling into{};  ///< how a reduction writes its result
  place sent{};
  place received{};
  place pieces{};             ///< of a reduction: memory for the others' pieces that arrive while earlier ones are
                              ///< added
  place share{};              ///< of an all-reduce: the memory for the part that this device reduces for all
  std::int64_t own = 0;       ///< elements of this device's part, or of the array
  std::int64_t members = 0;   ///< of the group
  bool even = false;          ///< all parts are as long as the own one; otherwise their lengths are listed
  bool own_left_out = false;  ///< the parts do not include the own one
  std::int64_t strided = 0;   ///< elements of an exchange that the transport packs or unpacks
  std::int64_t long_rows = 0;  ///< elements of an exchange in rows that are packed because their messages are long
  std::int64_t moved = 0;     ///< elements that this device receives from others; in a reduction, summands for its part
};

/// The other end of an exchange, and the blocks sent to it and received from it.
struct message_part {
  std::int64_t member = 0;
  buffer_block sent{};
  buffer_block received{};
};

/// Consecutive copies or fills of equal size.
struct repeated_writes {
  std::int64_t elements = 0;
  std::int64_t number = 0;
  bool reads = false;  ///< true for copies
};

/// Members of a group, equally far apart, that are sent equal numbers of elements.
struct repeated_sends {
  std::int64_t first = 0;
  std::int64_t members = 0;
  std::int64_t elements = 0;
  bool at_once = false;   ///< as one message of any length
  std::int64_t step = 1;  ///< from each member to the next

  [[nodiscard]] constexpr bool has(std::int64_t member) const {
    return member >= first && (member - first) % step == 0 && (member - first) / step < members;
  }
};

}  // namespace ostraka::planner
