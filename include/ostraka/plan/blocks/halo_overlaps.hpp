// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The indices of a block that are in the margins of another. A block [b, e) of an axis that is padded by v
/// before and w after reads [b − v, e + w). On a periodic axis of n indices, index i is also i ± n. So blocks may be
/// uneven or empty, a margin may reach over several blocks, and a block may be its own neighbour.

#include <cstdint>

#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::planner {

/// An axis of blocks; it is not padded if both margins are 0.
/// @pre before ≤ whole and behind ≤ whole
struct padded_axis {
  std::int64_t whole = 0;   ///< indices of all blocks together
  std::int64_t ways = 1;    ///< number of blocks
  std::int64_t before = 0;  ///< indices of the margin before a block's own
  std::int64_t behind = 0;  ///< indices of the margin after them
  bool periodic = false;
  std::int64_t const* begins = nullptr;  ///< where each block begins, then the end of the last; null for the block
                                         ///< distribution (`block`)

  /// The indices of a block.
  [[nodiscard]] constexpr range block_of(std::int64_t number) const {
    return begins == nullptr ? block(whole, number, ways) : range{begins[number], begins[number + 1]};
  }
  [[nodiscard]] constexpr bool is_padded() const { return before + behind > 0; }

  friend constexpr bool operator==(padded_axis const&, padded_axis const&) = default;
};

/// Indices of one block that are in another, padded block.
struct overlap {
  range sent{};      ///< counted from the beginning of the block that holds them
  range received{};  ///< counted from the beginning of the padded block
  bool is_margin = false;
};

/// The overlaps of two blocks of an axis: with the left margin, with the right one, and of a block with itself. On a
/// periodic axis a block may be in one margin twice.
struct overlaps {
  overlap of[5]{};
  int count = 0;
};

/// The overlaps, in an order that depends on the two blocks alone, so that sender and receiver get the same list.
[[nodiscard]] constexpr overlaps overlaps_of(padded_axis const& a, std::int64_t sender, std::int64_t receiver) {
  range const from = a.block_of(sender);
  range const to = a.block_of(receiver);
  overlaps found;
  auto const add = [&](range wanted, std::int64_t shift, bool is_margin) {
    range const common = intersect(wanted, {from.begin + shift, from.end + shift});
    if (common.size() == 0) return;
    std::int64_t const in_sender = from.begin + shift, in_receiver = to.begin - a.before;
    found.of[found.count++] = {{common.begin - in_sender, common.end - in_sender},
                               {common.begin - in_receiver, common.end - in_receiver},
                               is_margin};
  };
  if (sender == receiver) add(to, 0, false);
  if (!a.is_padded()) return found;
  for (std::int64_t shift = a.periodic ? -1 : 0; shift <= (a.periodic ? 1 : 0); ++shift) {
    if (shift <= 0) add({to.begin - a.before, to.begin}, shift * a.whole, true);
    if (shift >= 0) add({to.end, to.end + a.behind}, shift * a.whole, true);
  }
  return found;
}

/// The widths of a block's margins beyond the ends of an axis that is not periodic: before it, and after it.
struct beyond_ends {
  std::int64_t before = 0;
  std::int64_t behind = 0;
};

[[nodiscard]] constexpr beyond_ends beyond(padded_axis const& a, std::int64_t number) {
  if (a.periodic) return {};
  range const own = a.block_of(number);
  return {own.begin < a.before ? a.before - own.begin : 0,
          own.end + a.behind > a.whole ? own.end + a.behind - a.whole : 0};
}

/// The number of elements in the margins of a padded block that other blocks hold. `number`: the number of the block
/// along each axis; `corners`: elements in the margins of several axes count, too.
[[nodiscard]] constexpr std::int64_t elements_received(padded_axis const* axes, std::int64_t const* number, int rank,
                                                       bool corners) {
  std::int64_t own = 1, with_margins = 1, of_itself = 1;  // `of_itself`: own indices, and margins that it holds itself
  std::int64_t faces = 0;
  for (int d = 0; d < rank; ++d) {
    std::int64_t const n = axes[d].block_of(number[d]).size();
    beyond_ends const outside = beyond(axes[d], number[d]);
    std::int64_t const margins = axes[d].before - outside.before + axes[d].behind - outside.behind;
    std::int64_t held = 0;
    overlaps const self = overlaps_of(axes[d], number[d], number[d]);
    for (int k = 0; k < self.count; ++k) held += self.of[k].is_margin ? self.of[k].received.size() : 0;
    faces = faces * n + own * (margins - held);
    own *= n;
    with_margins *= n + margins;
    of_itself *= n + held;
  }
  return corners ? with_margins - of_itself : faces;
}

}  // namespace ostraka::planner
