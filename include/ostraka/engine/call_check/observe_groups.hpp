// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Observes groups of ranks, so that it is known which ranks wait for which (peer_monitor.hpp), and compares
/// the creation of groups. One call sets both, so that a rank which counts the creation of a group compares it, too.

#include <ostraka/engine/machine/mpi.hpp>

namespace ostraka::engine {

#if OSTRAKA_ENABLE_MPI

/// Groups of ranks are observed from this call on. Call it before the first of them is made. A template so that
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
