// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The parts of a block that MPI takes from where they lie: runs of memory, and on the host messages of long
/// rows, which it packs. A shorter message goes at once, with its envelope, and our own copies pack it for less than a
/// type costs. A longer one that lies dense is copied by the system or the network from memory to memory, which pays
/// for our packing it. Our own copies pack shorter rows faster.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/collectives/all_reduce_in_flight.hpp>
#include <ostraka/engine/groups/message.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/plan/decisions/viewpoint.hpp>

namespace ostraka::engine {

/// Bytes of messages, and of their rows, that MPI takes from where they lie: from a page on. Tests lower the shortest.
[[gnu::visibility("default")]] inline std::int64_t shortest_block_message = 4096;
inline constexpr std::int64_t longest_block_message = 256 * 1024;
[[gnu::visibility("default")]] inline std::int64_t shortest_block_row = 256;

/// Bytes that a device packs and sends in one round of a long exchange, to all others together, and the least to one of
/// them: packed parts that are still in a cache when they leave and arrive. Tests lower them.
[[gnu::visibility("default")]] inline std::int64_t bytes_of_round = 1 << 20;
[[gnu::visibility("default")]] inline std::int64_t shortest_piece_of_round = 128 * 1024;

/// Returns the facts about messages of elements T that lowering needs. A message that runs beside other work travels
/// whole, so that all of it does; and so does one in a GPU's memory, where kernels pack.
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
