// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Moves blocks between one device of a group and the others, in flight: broadcast, gather to the root,
/// scatter from the root. Blocks may have any lengths along one dimension.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include <ostraka/engine/block_collectives/exchange_blocks.hpp>
#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/collectives/scatter.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

namespace detail {

template <class Exec, class T>
class broadcast_record final : public flight_on<Exec> {
 public:
  void begin(Exec const& exec, execution_context const& w, communicator const& members, int root,
             strided_block<T const*> const& from, strided_block<T*> const& to) {
    bool const sends = members.rank() == root;
    std::int64_t const count = to.where.size();
    if (sends && count > 0) copy(exec, to, from);
    fence_before_messages(exec);
    arrays_.begin(this->exec());
    broadcast_.on(arrays_);
    broadcast_.begin(members, to.data, count, root, mpi_calls::nonblocking);
    this->enlist(*w.mesh, w.operation);
  }

  broadcast_record* next_free = nullptr;

 private:
  bool arrived() noexcept override { return broadcast_.test(); }
  void finish() override {
    broadcast_.finish();
    fence_on_host(this->exec(), arrays_);
  }
  void give_back() noexcept override { flight_records<broadcast_record>::instance().give_back(*this); }

  [[no_unique_address]] arrays_of<Exec> arrays_;
  broadcast_in_flight<T, arrays_of<Exec>> broadcast_;
};

[[gnu::cold]] inline std::string describe_root(int root) { return join_text("root ", root); }

template <class T>
void require_same_root(execution_context const& w, planner::spec const& block, planner::mesh_set axes, int root) {
  require_same_call<T>(w, block, axes, [&] { return describe_root(root); });
}

// Returns part d of dimension `along`, which is divided into parts of these lengths.
template <class T>
strided_block<T*> part_along(strided_block<T*> const& whole, int along, counts_view lengths, int d) {
  box part = whole.where;
  for (int e = 0; e < d; ++e) part.at[along].begin += lengths[static_cast<std::size_t>(e)];
  part.at[along].end = part.at[along].begin + lengths[static_cast<std::size_t>(d)];
  return whole.part(part);
}

}  // namespace detail

/// Begins a broadcast along mesh axes: the dense block `to` becomes the block `from` of member `root`. The other
/// members' `from` is not read. `block` describes the blocks to check mode. Collective over the mesh axes.
template <class Exec, class T>
run_in_flight begin_broadcast(Exec const& exec, execution_context const& w, planner::spec const& block,
                              planner::mesh_set axes, int root, strided_block<T const*> const& from,
                              strided_block<T*> const& to) {
  detail::require_same_root<T>(w, block, axes, root);
  communicator const& members = w.group(axes);
  using record = detail::broadcast_record<Exec, T>;
  return detail::begin_record<record>(exec, [&](record& r) { r.begin(exec, w, members, root, from, to); });
}

/// Begins a gather to member `root`: there `whole` gets the blocks of all members, one after the other along dimension
/// `along`; member d has lengths[d] indices. Elsewhere neither is used. Collective over the mesh axes.
template <class Exec, class T>
run_in_flight begin_gather_to(Exec const& exec, execution_context const& w, planner::spec const& block,
                              planner::mesh_set axes, int root, int along, counts_view lengths,
                              strided_block<T const*> const& own, strided_block<T*> const& whole) {
  detail::require_same_root<T>(w, block, axes, root);
  bool const receives = w.group(axes).rank() == root;
  return begin_exchange<T>(exec, w, axes, [&](int d) {
    block_exchanged<T> p;
    if (d == root) p.sent = own;
    if (receives) p.received = detail::part_along(whole, along, lengths, d);
    return p;
  });
}

/// Begins a scatter from member `root`: each member's `own` becomes its part of the root's `whole`, which is divided
/// along dimension `along` as in a gather; elsewhere `whole` is not read. Collective over the mesh axes.
template <class Exec, class T>
run_in_flight begin_scatter_from(Exec const& exec, execution_context const& w, planner::spec const& block,
                                 planner::mesh_set axes, int root, int along, counts_view lengths,
                                 strided_block<T const*> const& whole, strided_block<T*> const& own) {
  detail::require_same_root<T>(w, block, axes, root);
  bool const sends = w.group(axes).rank() == root;
  return begin_exchange<T>(exec, w, axes, [&](int d) {
    block_exchanged<T> p;
    if (sends) p.sent = detail::part_along(whole, along, lengths, d);
    if (d == root) p.received = own;
    return p;
  });
}

}  // namespace ostraka::engine
