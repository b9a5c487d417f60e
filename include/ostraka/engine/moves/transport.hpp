// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What of a block MPI takes from where it lies: runs of memory, and on the host long messages of long rows,
/// which it packs in pieces that stay in the cache. Shorter rows our own copies pack faster, and a shorter message
/// stays in the cache whole.

#include <algorithm>
#include <cstdint>
#include <limits>

#include <ostraka/engine/collectives/all_reduce_in_flight.hpp>
#include <ostraka/engine/groups/message.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/plan/decisions/viewpoint.hpp>

namespace ostraka::engine {

/// Bytes of a message, and of its rows, from which on MPI takes it from where it lies. Tests lower both.
inline std::int64_t shortest_block_message = 128 * 1024;
inline std::int64_t shortest_block_row = 256;

/// What lowering knows of messages of elements T. All numbers of a message are within MPI's int.
template <class Exec, class T>
planner::transport transport_for() {
  constexpr int element_bytes = static_cast<int>(sizeof(T));
  planner::transport t{!is_gpu_memory<Exec>(), element_bytes, shortest_block_message, shortest_block_row,
                       std::min<std::int64_t>(chunk_limit, std::numeric_limits<int>::max() / element_bytes)};
  for (unsigned how = 0; how < 8; ++how)
    if (reduced_by_mpi<T>(static_cast<reduction>(how))) t.reduced_by_mpi |= 1u << how;
  return t;
}

}  // namespace ostraka::engine
