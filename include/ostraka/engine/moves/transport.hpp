// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The blocks that MPI takes in place: runs of memory, and on the host medium-sized messages of long rows,
/// which MPI packs. A shorter message is sent with its envelope, and our own copies pack it in less time than an MPI
/// type costs. A longer message is worth packing by us, because the system or the network copies dense data directly
/// from memory to memory. Our own copies also pack shorter rows faster.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/collectives/all_reduce_in_flight.hpp>
#include <ostraka/engine/groups/message.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/plan/decisions/viewpoint.hpp>

namespace ostraka::engine {

/// Bytes of the messages, and of their rows, that MPI takes in place: a page at least. Tests lower the shortest.
[[gnu::visibility("default")]] inline std::int64_t shortest_block_message = 4096;
inline constexpr std::int64_t longest_block_message = 256 * 1024;
[[gnu::visibility("default")]] inline std::int64_t shortest_block_row = 256;

/// Bytes that a device packs and sends in one round of a long exchange, to all others together, and at least to one of
/// them. Packed parts of this size are still in a cache when they are sent and received. Tests lower both.
[[gnu::visibility("default")]] inline std::int64_t bytes_of_round = 1 << 20;
[[gnu::visibility("default")]] inline std::int64_t shortest_piece_of_round = 128 * 1024;

/// Returns the facts about messages of elements T that lowering needs. A nonblocking message is not split into rounds,
/// so that all of it overlaps with other work; nor is one in a GPU's memory, where kernels pack.
template <class Exec, class T>
planner::transport transport_for(mpi_calls calls = mpi_calls::blocking) {
  constexpr int element_bytes = static_cast<int>(sizeof(T));
  planner::transport t{!is_gpu_memory<Exec>(), element_bytes, shortest_block_message, shortest_block_row,
                       std::min<std::int64_t>(chunk_limit, longest_block_message / element_bytes)};
  if (t.takes_blocks && calls == mpi_calls::blocking) {
    t.round = bytes_of_round / element_bytes;
    t.shortest_piece = shortest_piece_of_round / element_bytes;
  }
  for (unsigned how = 0; how < 8; ++how)
    if (carrier::reduces<T>(static_cast<reduction>(how))) t.reduced_by_mpi |= 1u << how;
  return t;
}

}  // namespace ostraka::engine
