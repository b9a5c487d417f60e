// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Counts the traffic of a collective for its group, in total and between nodes, and reports it to listeners
/// when the collective starts and when it has ended.

#include <cstdint>

#include <ostraka/engine/groups/communicator.hpp>
#include <ostraka/engine/record/events.hpp>

namespace ostraka::engine {

namespace detail {

[[gnu::visibility("default")]] inline thread_local constinit std::int64_t collectives_alike = 1;

}  // namespace detail

/// While an object of this class exists, each collective that begins stands for `times` equal collectives, one after
/// the other. @pre their group is dry, and nothing else is reported until they have ended
class collectives_alike {
 public:
  explicit collectives_alike(std::int64_t times) { detail::collectives_alike = times; }
  ~collectives_alike() { detail::collectives_alike = 1; }
  collectives_alike(collectives_alike const&) = delete;
  collectives_alike& operator=(collectives_alike const&) = delete;
};

/// Counts one collective's traffic for its group and, if there are listeners, reports its start and its end.
class counted_collective {
 public:
  counted_collective() = default;
  counted_collective(communicator const& members, collective how) { begin(members, how); }
  counted_collective(counted_collective const&) = delete;
  counted_collective& operator=(counted_collective const&) = delete;
  ~counted_collective() { end(); }

  /// Begins a collective of these members.
  void begin(communicator const& members, collective how) {
    end();
    sent_ = members.size() > 1 ? &members.sent() : nullptr;
    group_ = &members;
    times_ = detail::collectives_alike;
    if (has_listeners() && sent_ != nullptr) report_start(members, how);
  }

  /// Counts bytes and messages that the collective sends; @pre the group has other members
  void add(std::int64_t bytes, std::int64_t messages = 1, std::int64_t between_nodes = 0) {
    sent_->add(times_ * bytes, times_ * messages, times_ * between_nodes);
    if (number_ != 0) own_.add(bytes, messages, between_nodes);
  }

  /// Counts bytes of rows, sent or received, which the transport packs.
  void add_packed(std::int64_t bytes) {
    if (number_ != 0) packed_ += bytes;
  }

  /// Counts bytes sent to one other device.
  void add_sent(int to, std::int64_t bytes, std::int64_t messages = 1) {
    add(bytes, messages, group_->same_node(to) ? 0 : bytes);
  }

  /// Counts `bytes` sent to all others together, of_member(d) of them to member d; one message if MPI does it. The
  /// bytes between nodes are `bytes` less those of the members on this node: nodes are smaller than groups, so that
  /// loop is the shorter one.
  template <class OfMember>
  [[gnu::cold]] void add_of_each(std::int64_t bytes, OfMember const& of_member, std::int64_t messages = 1) {
    node_grid const& nodes = group_->nodes();
    if (nodes.axes == 0) return add(bytes, messages);
    std::int64_t between = bytes;
    int const node = nodes.node_of(group_->rank());
    for (int place = 0; place < nodes.each(); ++place)
      if (int const d = nodes.device(node, place); d != group_->rank()) between -= of_member(d);
    add(bytes, messages, between);
  }

  /// Counts an all-reduce of `count` elements that MPI does: this device's share of the data that all members send.
  void add_all_reduce(std::int64_t count, std::int64_t element_bytes) {
    std::int64_t const n = group_->size();
    auto const share = [&](std::int64_t d) { return 2 * ((d + 1) * count / n - d * count / n) * element_bytes; };
    add_of_each(2 * count * element_bytes - share(group_->rank()), share);
  }

  /// Reports that this device begins to wait for the collective.
  void wait() {
    if (number_ != 0 && times_ == 1) report(as_event(event_kind::waits));
  }

  /// Reports that the collective has ended.
  void end() {
    if (number_ != 0) report_finish();
  }

 private:
  [[gnu::cold, gnu::noinline]] void report_start(communicator const& members, collective how) {
    own_ = {};
    packed_ = 0;
    how_ = how;
    members_ = members.size();
    over_ = members.over();
    level_ = members.level();
    dry_ = members.is_dry();
    mesh_ = members.mesh();
    number_ = detail::last_collective + 1;
    detail::last_collective += static_cast<std::uint64_t>(times_);
    if (times_ == 1) report(as_event(event_kind::starts));
  }
  [[gnu::cold, gnu::noinline]] void report_finish() {
    event e = as_event(event_kind::finishes);
    e.bytes = own_.bytes;
    e.messages = own_.messages;
    e.packed = packed_;
    e.bytes_between_nodes = own_.bytes_between_nodes;
    event const starts = as_event(event_kind::starts), waits = as_event(event_kind::waits);
    number_ = 0;
    times_ == 1 ? report(e) : report(starts, waits, e, times_);
  }
  [[nodiscard]] event as_event(event_kind kind) const {
    event e;
    e.kind = kind;
    e.how = how_;
    e.mesh = mesh_;
    e.over = over_;
    e.level = level_;
    e.dry = dry_;
    e.members = members_;
    e.number = number_;
    return e;
  }

  traffic* sent_ = nullptr;
  communicator const* group_ = nullptr;
  std::int64_t times_ = 1;    // the number of equal collectives that this one stands for
  std::uint64_t number_ = 0;  // 0: the start was not reported, and the members below are not set
  traffic own_;
  std::int64_t packed_;
  mesh_axes const* mesh_;
  std::uint32_t over_;
  mesh_level level_;
  bool dry_;
  int members_;
  collective how_;
};

inline void communicator::find_largest(std::int64_t* numbers, int count) const {
  if (!shared_) return;
  counted_collective counted(*this, collective::all_reduce);
  counted.wait();
  if (size() > 1) counted.add_all_reduce(count, sizeof(std::int64_t));
  if (shared_->dry) return;
  enter();
  shared_->group.all_reduce(numbers, count, reduction::max);
}

}  // namespace ostraka::engine
