// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The question that operations ask in check mode before they communicate: do all members of the group call
/// the same? How it is answered: call_check.hpp. Otherwise it costs a test of one bool.

#include <string>

#include <ostraka/engine/groups/communicator.hpp>
#include <ostraka/engine/machine/mpi.hpp>

namespace ostraka::engine {

#if OSTRAKA_ENABLE_MPI

namespace detail {

// Templates so that ostraka::compiled can hold them; compare_calls.hpp has their bodies.
template <class = void>
[[gnu::cold]] void compare(communicator const& group, std::string const& text);

}  // namespace detail

/// In check mode, before the group communicates: throws unless all its members are about to do what `describe()` says.
/// Collective over the group in check mode; otherwise the cost of asking. @throws ostraka::error, the same on all
/// members, if they are in different operations
template <class Describe>
void require_agreement(communicator const& group, Describe const& describe) {
  if (group.compares_calls()) detail::compare(group, describe());
}

/// The same before a communicator is made of these ranks.
template <class = void>
[[gnu::cold]] void require_agreement_to_create(char const* what, native_communicator ranks = MPI_COMM_WORLD);

#else

template <class Describe>
void require_agreement(communicator const&, Describe const&) {}
inline void require_agreement_to_create(char const*, native_communicator = {}) {}

#endif

}  // namespace ostraka::engine

#if !defined(OSTRAKA_COMPILED) && OSTRAKA_ENABLE_MPI
#  include <ostraka/engine/call_check/compare_calls.hpp>
#endif
