// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Exchanges numbers between members before they send data: how much goes to each member, how long each
/// member's block is. Blocks that follow from extents that all devices know need no such exchange.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/groups/counted_collective.hpp>
#include <ostraka/engine/groups/message.hpp>

namespace ostraka::engine {

/// Each member sends every other member `each` numbers: those for member d are at sent + d · each, those from member d
/// at received + d · each. On a dry group, this member receives from each member the numbers that it sends there.
inline void exchange_counts(communicator const& members, std::int64_t const* sent, std::int64_t* received,
                            int each = 1) {
  if (members.size() == 1) {
    std::copy_n(sent, each, received);
    return;
  }
  counted_collective counted(members, collective::exchange);
  counted.wait();
  std::int64_t const bytes = each * static_cast<std::int64_t>(sizeof(std::int64_t));
  counted.add_of_each(bytes * (members.size() - 1), [&](int) { return bytes; });
  if (members.is_dry()) {
    std::copy_n(sent, std::int64_t{each} * members.size(), received);
    return;
  }
  members.enter();
  members.carried()->all_to_all(sent, received, each);
}

/// Each member sends the same numbers to all: those of member d are at received + d · each. On a dry group, all members
/// send this member's numbers.
inline void gather_counts(communicator const& members, std::int64_t const* sent, std::int64_t* received, int each = 1) {
  all_gather(members, sent, received, counts_view::even(each, static_cast<std::size_t>(members.size())));
  if (members.is_dry() || members.size() == 1)
    for (int d = 0; d < members.size(); ++d) std::copy_n(sent, each, received + std::int64_t{d} * each);
}

}  // namespace ostraka::engine
