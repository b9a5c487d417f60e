// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The check that operations make before they communicate: all members of the group must make the same call.
/// It runs each time in check mode, otherwise the first time, unless OSTRAKA_CHECK_SPMD is 0. call_check.hpp implements
/// it.

#include <cstdint>
#include <string>

#include <ostraka/engine/groups/communicator.hpp>
#include <ostraka/engine/machine/mpi.hpp>

namespace ostraka::engine {

#if OSTRAKA_ENABLE_MPI

namespace detail {

// Templates so that ostraka::compiled can hold them; compare_calls.hpp has their bodies.
template <class = void>
[[gnu::cold]] void compare(communicator const& group, std::string const& text);

// True if the group has compared this call; it then publishes that this device makes the call.
template <class = void>
bool enter_known_call(communicator const& group, std::uint64_t key);

// Compares a call unless the group knows its description `text`. Afterwards the group knows the key, unless it is 0.
template <class = void>
[[gnu::cold]] void compare_first_run(communicator const& group, std::uint64_t key, std::string const& text);

}  // namespace detail

/// Throws unless all members of the group are about to make the call that `describe()` describes. Call it before the
/// group communicates. In check mode it is collective over the group each time; if first runs are compared, only the
/// first time that the group makes this call. `key()` returns a number that identifies the description, to recognise
/// later calls (call_key.hpp). @throws ostraka::error, the same on all members, if they are in different operations
template <class Key, class Describe>
void require_agreement(communicator const& group, Key const& key, Describe const& describe) {
  compared_calls const compared = group.compared();
  if (compared == compared_calls::none) return;
  if (compared == compared_calls::all) return detail::compare(group, describe());
  std::uint64_t const known_by = key();
  if (!detail::enter_known_call(group, known_by)) detail::compare_first_run(group, known_by, describe());
}

/// The same for rare calls: the description is made each time.
template <class Describe>
void require_agreement(communicator const& group, Describe const& describe) {
  compared_calls const compared = group.compared();
  if (compared == compared_calls::none) return;
  compared == compared_calls::all ? detail::compare(group, describe())
                                  : detail::compare_first_run(group, 0, describe());
}

/// The same before a communicator of these ranks is created.
template <class = void>
[[gnu::cold]] void require_agreement_to_create(char const* what, native_communicator ranks = all_ranks());

#else

template <class Key, class Describe>
void require_agreement(communicator const&, Key const&, Describe const&) {}
template <class Describe>
void require_agreement(communicator const&, Describe const&) {}
inline void require_agreement_to_create(char const*, native_communicator = {}) {}

#endif

}  // namespace ostraka::engine

#if !defined(OSTRAKA_COMPILED) && OSTRAKA_ENABLE_MPI
#  include <ostraka/engine/call_check/compare_calls.hpp>
#endif
