// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Observes groups of ranks to know which ranks wait for which (peer_monitor.hpp), and compares the creation
/// of groups. One call switches both on, so that a rank that counts the creation of a group also compares it.

#include <ostraka/engine/machine/mpi.hpp>

namespace ostraka::engine {

#if OSTRAKA_ENABLE_MPI

/// Observes groups of ranks from now on. Call it before the first group is created. A template so that
/// ostraka::compiled can hold it.
template <class = void>
[[gnu::cold]] void observe_groups();

#else

inline void observe_groups() {}

#endif

}  // namespace ostraka::engine

#if !defined(OSTRAKA_COMPILED) && OSTRAKA_ENABLE_MPI
#  include <ostraka/engine/call_check/compare_calls.hpp>
#endif
