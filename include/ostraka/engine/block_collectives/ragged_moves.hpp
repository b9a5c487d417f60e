// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Moves along a dimension whose parts only the senders know. The members of a group first tell each other how
/// many rows they send; then the rows travel, in flight. There is a gather of blocks of any lengths, and the ragged
/// all-to-all, in which each device decides which rows go to each other device and where they belong there.
///
///     member        sends rows                   to rows of the target
///     to d          [from[d], from[d] + rows[d])    [to[d], to[d] + rows[d])     of member d

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <ostraka/engine/block_collectives/exchange_blocks.hpp>
#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/collectives/counts.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The rows that a device sends, by member.
struct ragged_rows {
  std::int64_t const* from;  ///< where they begin in the sender's block
  std::int64_t const* rows;  ///< how many
  std::int64_t const* to;    ///< where they begin at the receiver
};

namespace detail {

/// Returns indices [begin, begin + size) of dimension `along`, counted from the block's begin.
template <class T>
strided_block<T*> rows_of(strided_block<T*> const& block, int along, std::int64_t begin, std::int64_t size) {
  box inner = block.where;
  inner.at[along].begin += begin;
  inner.at[along].end = inner.at[along].begin + size;
  return block.part(inner);
}

inline bool fits(std::int64_t begin, std::int64_t size, std::int64_t extent) {
  return begin >= 0 && size >= 0 && begin <= extent && size <= extent - begin;
}

// The largest value over all members tells all of them which member is wrong, and how. 0: none is.
enum class ragged_fault : std::int64_t { none, sends_missing_rows, receives_beyond_end, receives_twice };

[[gnu::cold, gnu::noinline]] inline void refuse_ragged(execution_context const& w, ragged_fault what, int member) {
  std::string const who = join_text("device ", member, " of the group ");
  std::string const rule =
      what == ragged_fault::sends_missing_rows
          ? join_text("a device sends only rows that it has, but ", who, "sends rows outside its block")
      : what == ragged_fault::receives_beyond_end
          ? join_text("rows arrive within the target, but ", who, "is sent rows outside it")
          : join_text("a row of a target is sent at most once, but ", who, "is sent rows that overlap");
  throw_error(w.operation, ": ", rule, "; give offsets and numbers of rows that agree on all devices");
}

}  // namespace detail

/// Begins the ragged all-to-all of rows along dimension `along` of dense or strided blocks: `to` gets the rows that the
/// others send, and keeps its other rows. `block` describes the blocks to check mode. Collective over the mesh axes.
/// @throws ostraka::error, on all of their devices alike, before any row is sent, if a device sends rows that it does
/// not have, or if rows arrive beyond the end of `to` or in the same place
template <class Exec, class T>
run_in_flight begin_ragged(Exec const& exec, execution_context const& w, planner::spec const& block,
                           planner::mesh_set axes, int along, strided_block<T const*> const& from,
                           strided_block<T*> const& to, ragged_rows const& sent) {
  require_same_call<T>(w, block, axes, [] { return std::string(); });
  communicator const& members = w.group(axes);
  int const n = members.size();
  detail::ragged_fault found = detail::ragged_fault::none;
  short_array<std::int64_t, 64> sent_counts, received_counts;
  for (int d = 0; d < n; ++d) {
    bool const there = detail::fits(sent.from[d], sent.rows[d], from.where.at[along].size());
    if (!there) found = detail::ragged_fault::sends_missing_rows;
    sent_counts.push_back(there ? sent.rows[d] : 0);
    sent_counts.push_back(there ? sent.to[d] : 0);
  }
  for (int d = 0; d < 2 * n; ++d) received_counts.push_back(0);
  exchange_counts(members, sent_counts.data(), received_counts.data(), 2);
  auto const rows_from = [&](int d) { return received_counts[static_cast<std::size_t>(2 * d)]; };
  auto const begin_from = [&](int d) { return received_counts[static_cast<std::size_t>(2 * d + 1)]; };
  for (int d = 0; d < n && found == detail::ragged_fault::none; ++d) {
    if (!detail::fits(begin_from(d), rows_from(d), to.where.at[along].size()))
      found = detail::ragged_fault::receives_beyond_end;
    for (int e = 0; e < d && found == detail::ragged_fault::none; ++e)
      if (rows_from(d) > 0 && rows_from(e) > 0 && begin_from(d) < begin_from(e) + rows_from(e) &&
          begin_from(e) < begin_from(d) + rows_from(d))
        found = detail::ragged_fault::receives_twice;
  }
  if (members.is_dry()) {  // each member sends as many rows as it gets, in member order
    std::int64_t next = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(n); ++d) {
      std::int64_t* const from_d = received_counts.data() + 2 * d;
      from_d[0] = std::min(from_d[0], to.where.at[along].size() - next);
      from_d[1] = next;
      next += from_d[0];
    }
    found = detail::ragged_fault::none;
  }
  std::int64_t fault = found == detail::ragged_fault::none ? 0 : static_cast<std::int64_t>(found) * n + members.rank();
  members.find_largest(&fault, 1);
  if (fault != 0) detail::refuse_ragged(w, static_cast<detail::ragged_fault>(fault / n), static_cast<int>(fault % n));
  return begin_exchange<T>(exec, w, axes, [&](int d) {
    return block_exchanged<T>{detail::rows_of(from, along, sent.from[d], sent.rows[d]),
                              detail::rows_of(to, along, begin_from(d), rows_from(d))};
  });
}

}  // namespace ostraka::engine
