// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The question that operations ask in check mode before they communicate: do all members of the group call
/// the same? How it is answered: call_check.hpp. Otherwise it costs a test of one bool.

#include <string>

#include <ostraka/engine/call_check/call_check.hpp>
#include <ostraka/engine/groups/communicator.hpp>
#include <ostraka/engine/machine/mpi.hpp>

namespace ostraka::engine {

#if OSTRAKA_ENABLE_MPI

namespace detail {

[[gnu::cold]] inline void compare(group_record& group, MPI_Comm own, std::string const& text) {
  group.monitor->announce(text);
  group.enter();
  group.monitor->answer_for_presence();
  peer_monitor::waiting const it_waits;
  call_check(group, own, text).run();
}

}  // namespace detail

/// In check mode, before the group communicates: throws unless all its members are about to do what `describe()` says.
/// Collective over the group in check mode; otherwise the cost of asking. @throws ostraka::error, the same on all
/// members, if they are in different operations
template <class Describe>
void require_agreement(communicator const& group, Describe const& describe) {
  if (group.compares_calls())  // then its observer is a peer_monitor
    detail::compare(static_cast<group_record&>(*group.progress()), group.native(), describe());
}

/// The same before a communicator is made of these ranks.
[[gnu::cold]] inline void require_agreement_to_create(char const* what, native_communicator ranks = MPI_COMM_WORLD) {
  if (peer_monitor* const over = peer_monitor::over(ranks);
      over && over->compares_calls() && !mpi_serves_threads_at_once())
    detail::compare(over->creation_by(ranks), ranks, what);
}

#else

template <class Describe>
void require_agreement(communicator const&, Describe const&) {}
inline void require_agreement_to_create(char const*, native_communicator = {}) {}

#endif

}  // namespace ostraka::engine
