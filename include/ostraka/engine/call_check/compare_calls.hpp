// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What check mode does in an operation: the bodies of same_calls.hpp's functions. A program that links
/// ostraka::compiled has them there, and does not read this file, nor call_check.hpp.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <string>

#  include <ostraka/engine/call_check/call_check.hpp>
#  include <ostraka/engine/call_check/same_calls.hpp>
#  include <ostraka/engine/groups/communicator.hpp>
#  include <ostraka/engine/spmd/group_records.hpp>
#  include <ostraka/engine/spmd/peer_monitor.hpp>

namespace ostraka::engine {

namespace detail {

[[gnu::cold]] inline void compare(group_record& group, MPI_Comm own, std::string const& text) {
  group.monitor->announce(text);
  group.enter();
  group.monitor->answer_for_presence();
  peer_monitor::waiting const it_waits;
  call_check(group, own, text).run();
}

// The observer of a group that compares its calls is a peer_monitor.
template <class>
[[gnu::cold]] void compare(communicator const& group, std::string const& text) {
  compare(static_cast<group_record&>(*group.progress()), group.native(), text);
}

}  // namespace detail

template <class>
[[gnu::cold]] void require_agreement_to_create(char const* what, native_communicator ranks) {
  if (peer_monitor* const over = peer_monitor::over(ranks);
      over && over->compares_calls() && !mpi_serves_threads_at_once())
    detail::compare(over->creation_by(ranks), ranks, what);
}

}  // namespace ostraka::engine

#endif
