// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The work of check mode in an operation: the bodies of the functions of same_calls.hpp and
/// observe_groups.hpp. A program that links ostraka::compiled has them in the library, and includes neither this file
/// nor call_check.hpp.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <cstddef>
#  include <cstdint>
#  include <string>

#  include <ostraka/engine/call_check/call_check.hpp>
#  include <ostraka/engine/call_check/observe_groups.hpp>
#  include <ostraka/engine/call_check/same_calls.hpp>
#  include <ostraka/engine/groups/communicator.hpp>
#  include <ostraka/engine/groups/group_observer.hpp>
#  include <ostraka/engine/spmd/group_records.hpp>
#  include <ostraka/engine/spmd/peer_monitor.hpp>
#  include <ostraka/types/support/dynamic_array.hpp>
#  include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

namespace detail {

[[gnu::cold]] inline void compare(group_record& group, native_communicator own, std::string const& text) {
  group.monitor->announce(text);
  group.enter();
  group.monitor->answer_for_presence();
  peer_monitor::waiting const waiting_mark;
  call_check(group, own, text).run();
}

// Compares a call whose description the group does not know yet. Groups of very many members, which keep no list of
// them, do not compare.
[[gnu::cold]] inline void compare_first_run(group_record& group, native_communicator own, std::string const& text) {
  if (group.members == nullptr) return;
  group.monitor->announce(text);
  group.monitor->announce(known_calls::fingerprint(text) | 1u);
  group.enter();
  call_check(group, own, text).run();
}

// Describes an operation that creates the communicator that it needs: `the first operation of ranks 0 and 1 alone`.
[[gnu::cold]] inline std::string first_operation_of(group_record const& group) {
  constexpr std::size_t most = 8;  // ranks that are named
  dynamic_array<int> const& members = *group.members;
  if (members.size() > most) return join_text("the first operation of a group of ", members.size(), " ranks");
  std::string text = "the first operation of ranks ";
  for (std::size_t m = 0; m < members.size(); ++m)
    append_text(text, m == 0 ? "" : m + 1 == members.size() ? " and " : ", ",
                number_in_world(group.monitor->comm(), members[m]));
  return join_text(text, " alone");
}

// The observer of a group that compares its calls is a peer_monitor.
inline group_record& record_of(communicator const& group) { return static_cast<group_record&>(*group.progress()); }

template <class>
[[gnu::cold]] void compare(communicator const& group, std::string const& text) {
  compare(record_of(group), group.native(), text);
}

template <class>
bool enter_known_call(communicator const& group, std::uint64_t key) {
  group_record& record = record_of(group);
  std::uint64_t const fingerprint = record.calls.find(key);
  if (fingerprint == 0) return false;
  record.monitor->announce(fingerprint);  // before others can read that this device has entered it
  record.enter();
  return true;
}

template <class>
[[gnu::cold]] void compare_first_run(communicator const& group, std::uint64_t key, std::string const& text) {
  group_record& record = record_of(group);
  std::uint64_t const fingerprint = known_calls::fingerprint(text);
  if (record.calls.knows(fingerprint) || record.calls.is_full()) {
    record.monitor->announce(fingerprint);
    record.enter();
  } else {
    compare_first_run(record, group.native(), text);
    record.calls.add(fingerprint, text);
  }
  if (key != 0 && record.calls.knows(fingerprint)) record.calls.add_key(key, fingerprint);
}

}  // namespace detail

template <class>
[[gnu::cold]] void require_agreement_to_create(char const* what, native_communicator ranks) {
  peer_monitor* const over = peer_monitor::over(ranks);
  if (over == nullptr || over->compared() == compared_calls::none || over->is_thread_multiple()) return;
  if (over->compared() == compared_calls::all) return detail::compare(over->creation_by(ranks), ranks, what);
  detail::compare_first_run(over->creation_by(ranks), ranks, what);
}

template <class>
[[gnu::cold]] void observe_groups() {
  peer_monitor::compare_creation = [](group_record& creation) {
    if (creation.members != nullptr)
      detail::compare_first_run(creation, no_communicator(), detail::first_operation_of(creation));
  };
  find_group_observer = [](native_communicator ranks) -> group_observer* { return peer_monitor::over(ranks); };
}

}  // namespace ostraka::engine

#endif
