// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A permute of blocks, in flight: each device of a group gets the block of the device that sends to it, or
/// zeros if none does. B(i + 1) <- A(i), along a mesh axis.

#include <Kokkos_Core.hpp>

#include <ostraka/engine/block_collectives/blocks_for_mpi.hpp>
#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/collectives/permute_in_flight.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/flight.hpp>

namespace ostraka::engine {

namespace detail {

template <class Exec, class T>
class permute_record final : public flight_on<Exec> {
 public:
  void begin(Exec const& exec, execution_context const& w, communicator const& members, hops_here here,
             strided_block<T const*> const& from, strided_block<T*> const& to) {
    exchanged<T> part{nullptr, 0, nullptr, 0};
    bool const stays = here.to == members.rank();
    permute_.on(blocks_.begin(this->exec(), 2));
    if (here.to >= 0 && !stays) blocks_.send(exec, part, from);
    if (here.from >= 0 && !stays) blocks_.receive(part, to);
    fence_before_messages(exec);
    permute_.begin(members, here, part);
    if (stays) copy(exec, to, from);
    if (here.from < 0) fill(exec, to.data, layout_of(to), T(0));
    this->enlist(*w.mesh, w.operation);
  }

  permute_record* next_free = nullptr;

 private:
  bool arrived() noexcept override { return permute_.test(); }
  void finish() override {
    permute_.finish();
    blocks_.unpack(this->exec());
  }
  void give_back() noexcept override {
    flight_records<permute_record>::instance().give_back(*this);
  }

  blocks_for_mpi<Exec, T> blocks_;
  permute_in_flight<T, arrays_of<Exec>> permute_;
};

}  // namespace detail

/// Begins a permute along mesh axes: `from` is sent along the hops, and `to`, which does not overlap it, gets the block
/// that arrives, or zeros. Blocks may differ in length, but every target is as long as the block that it gets. Hops
/// number the devices as their group does. `block` describes the blocks to check mode. Collective over the mesh axes.
/// @pre no hop is wrong
template <class Exec, class T>
run_in_flight begin_permute(Exec const& exec, execution_context const& w, planner::spec const& block,
                            planner::mesh_set axes, permutation_view const& permutation,
                            strided_block<T const*> const& from, strided_block<T*> const& to) {
  require_same_call<T>(
      w, block, axes, [&] { return permutation.describe(); },
      [&](call_key& key) {
        key.add(static_cast<std::uint64_t>(permutation.shift));
        for (int h = 0; h < permutation.count; ++h)
          key.add(static_cast<std::uint64_t>(permutation.hops[h].from) << 32 |
                  static_cast<std::uint64_t>(permutation.hops[h].to));
      });
  communicator const& members = w.group(axes);
  hops_here const here = permutation.of(members.rank(), members.size());
  using record = detail::permute_record<Exec, T>;
  return detail::begin_record<record>(exec, [&](record& r) { r.begin(exec, w, members, here, from, to); });
}

}  // namespace ostraka::engine
