// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Passes blocks of any strides to messages: in place, if a block is one run or has rows that MPI packs well;
/// otherwise a kernel packs it, and unpacks it when it has arrived.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/collectives/exchange_in_flight.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/engine/moves/copy_block.hpp>
#include <ostraka/engine/moves/transport.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// The blocks of a collective, from before it begins until it has ended.
template <class Exec, class T>
class blocks_for_mpi {
 public:
  using arrays = arrays_of<Exec>;

  /// Prepares for at most `most` blocks, to whose layouts the collective points. Returns the arrays for the collective.
  arrays& begin(Exec const& exec, int most) {
    end();
    arrays_.begin(exec);
    layouts_.reserve(static_cast<std::size_t>(most));
    via_ = transport_for<Exec, T>();
    return arrays_;
  }

  void send(Exec const& exec, exchanged<T>& part, strided_block<T const*> const& block) {
    part.send = block.data;
    part.sent = block.where.size();
    if (part.sent == 0 || block.gapless()) return;
    if (via_.takes(block)) {
      part.block_sent = &layouts_.push_back(layout_of(block));
      return;
    }
    T* const packed = buffer_for(part.sent);
    copy(exec, dense_block(packed, block.where), block);
    part.send = packed;
  }

  void receive(exchanged<T>& part, strided_block<T*> const& block) {
    part.receive = block.data;
    part.received = block.where.size();
    if (part.received == 0 || block.gapless()) return;
    if (via_.takes(block)) {
      part.block_received = &layouts_.push_back(layout_of(block));
      return;
    }
    part.receive = buffer_for(part.received);
    unpacked_.push_back({block, part.receive});
  }

  /// Moves the received data into place. Call it after the end of the collective.
  void unpack(Exec const& exec) {
    for (arrived const& a : unpacked_) copy(exec, a.to, dense_block(static_cast<T const*>(a.packed), a.to.where));
    fence_on_host(exec, arrays_);
    end();
  }

  /// Gives back the buffers.
  void end() {
    unpacked_.clear();
    buffers_.clear();
    layouts_.clear();
  }

 private:
  using buffer = kernel_scratch<T, typename Exec::memory_space>;

  struct arrived {
    strided_block<T*> to;
    T* packed;
  };

  T* buffer_for(std::int64_t count) {
    buffers_.push_back(buffer(count));
    return buffers_.back().data();
  }

  planner::transport via_{};
  dynamic_array<buffer> buffers_;
  dynamic_array<arrived> unpacked_;
  short_array<strided, 2> layouts_;
  [[no_unique_address]] arrays arrays_;
};

}  // namespace ostraka::engine
