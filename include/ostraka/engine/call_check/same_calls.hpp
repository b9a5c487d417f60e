// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The check that operations make before they communicate: all members of the group must make the same call.
/// In check mode it is made each time, otherwise the first time, unless OSTRAKA_CHECK_SPMD is 0. call_check.hpp does
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

// True if the group has compared this call. Other ranks can then read that this device makes it.
template <class = void>
bool enter_known_call(communicator const& group, std::uint64_t key);

// Compares a call unless the group knows these words. The key, unless it is 0, is known afterwards.
template <class = void>
[[gnu::cold]] void compare_first_run(communicator const& group, std::uint64_t key, std::string const& text);

}  // namespace detail

/// Call it before the group communicates. It throws unless all its members are about to make the call that `describe()`
/// describes. In check mode it is collective over the group each time; if first runs are compared, only the first time
/// that the group makes this call. `key()` returns a number that is the same for the same words only, by which later
/// calls are found (call_key.hpp). @throws ostraka::error, the same on all members, if they are in different operations
template <class Key, class Describe>
void require_agreement(communicator const& group, Key const& key, Describe const& describe) {
  compared_calls const compared = group.compared();
  if (compared == compared_calls::none) return;
  if (compared == compared_calls::all) return detail::compare(group, describe());
  std::uint64_t const known_by = key();
  if (!detail::enter_known_call(group, known_by)) detail::compare_first_run(group, known_by, describe());
}

/// The same for rare calls: the words are made each time.
template <class Describe>
void require_agreement(communicator const& group, Describe const& describe) {
  compared_calls const compared = group.compared();
  if (compared == compared_calls::none) return;
  compared == compared_calls::all ? detail::compare(group, describe())
                                  : detail::compare_first_run(group, 0, describe());
}

/// The same before a communicator is made of these ranks.
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
