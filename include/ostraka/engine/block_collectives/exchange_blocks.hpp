// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. An exchange of blocks between all pairs of a group, in flight. For each member, the caller passes the block
/// to send and the place of the block to receive. Use it for moves whose parts do not follow from the block
/// distribution: uneven blocks of unknown extents, ragged exchanges.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/block_collectives/blocks_for_mpi.hpp>
#include <ostraka/engine/collectives/exchange_in_flight.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/flight.hpp>

namespace ostraka::engine {

/// Returns a block without elements.
template <class T>
strided_block<T*> empty_block() {
  strided_block<T*> r;
  r.where.rank = 1;
  return r;
}

/// The block sent to a member of a group, and the block received from it; empty by default.
template <class T>
struct block_exchanged {
  strided_block<T const*> sent = empty_block<T const>();
  strided_block<T*> received = empty_block<T>();
};

namespace detail {

template <class Exec, class T>
class exchange_record final : public flight_on<Exec> {
 public:
  template <class PartOf>
  void begin(Exec const& exec, execution_context const& w, communicator const& members, PartOf const& part_of) {
    int const n = members.size();
    parts_.clear();
    exchange_.on(blocks_.begin(this->exec(), 2 * n));
    for (int d = 0; d < n; ++d) {
      exchanged<T>& part = parts_.push_back({nullptr, 0, nullptr, 0});
      if (d == members.rank()) continue;
      block_exchanged<T> const p = part_of(d);
      blocks_.send(exec, part, p.sent);
      blocks_.receive(part, p.received);
    }
    fence_before_messages(exec);
    exchange_.begin(members, parts_.data());
    block_exchanged<T> const own = part_of(members.rank());
    if (own.sent.where.size() > 0) copy(exec, own.received, own.sent);
    this->enlist(*w.mesh, w.operation);
  }

  exchange_record* next_free = nullptr;

 private:
  bool arrived() noexcept override { return exchange_.test(); }
  void finish() override {
    exchange_.finish();
    blocks_.unpack(this->exec());
  }
  void give_back() noexcept override {
    flight_records<exchange_record>::instance().give_back(*this);
  }

  blocks_for_mpi<Exec, T> blocks_;
  short_array<exchanged<T>> parts_;
  exchange_in_flight<T, arrays_of<Exec>> exchange_;
};

}  // namespace detail

/// Begins an exchange along mesh axes: `part_of(d)` is a block_exchanged<T> with member d. The part that this device
/// sends to d is as long as the part that d receives from it. This device's own part is copied. Received blocks overlap
/// nothing else. Collective over the mesh axes; if devices might make different calls, the caller compares them first
/// (require_same_call).
template <class T, class Exec, class PartOf>
run_in_flight begin_exchange(Exec const& exec, execution_context const& w, planner::mesh_set axes,
                             PartOf const& part_of) {
  communicator const& members = w.group(axes);
  using record = detail::exchange_record<Exec, T>;
  return detail::begin_record<record>(exec, [&](record& r) { r.begin(exec, w, members, part_of); });
}

}  // namespace ostraka::engine
