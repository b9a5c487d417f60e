// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-gather on two levels, if a group spans several nodes. Every part goes to the device of the same place
/// on each other node, and from there to all devices of that node. So a part passes between two nodes once, and not
/// once for each device. The total number of bytes is the same as on one level.

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/groups/device_messages.hpp>

namespace ostraka::engine {

/// The fewest bytes of an array, all members' parts together, for a collective over two levels: shorter collectives end
/// before a second message would arrive. Tests lower it.
[[gnu::visibility("default")]] inline std::int64_t shortest_levelled = 32 * 1024;

/// Returns the levels of a group for a collective of this many bytes; null if it uses one level.
inline node_levels const* levels_for(communicator const& members, std::int64_t bytes) {
  return bytes >= shortest_levelled ? members.levels() : nullptr;
}

/// The same for a collective with parts in member order; null also unless the parts of each node are one run.
[[gnu::cold]] inline node_levels const* levels_in_order(communicator const& members, std::int64_t bytes) {
  return bytes >= shortest_levelled && members.nodes().in_order() ? members.levels() : nullptr;
}

/// An all-gather in flight, as all_gather_in_flight, over two levels if there are two and the parts are long enough.
template <class T, class Arrays = host_arrays>
class levelled_all_gather {
 public:
  /// Sets the arrays. Call it before the all-gather begins, unless the arrays are on the host.
  void on(Arrays& arrays) {
    pending_.on(arrays);
    gather_.on(arrays);
  }

  [[gnu::cold]] void begin(communicator const& members, T const* send, T* recv, counts_view const& counts,
                           mpi_calls calls = mpi_calls::blocking) {
    levels_ = levels_in_order(members, counts.total() * static_cast<std::int64_t>(sizeof(T)));
    if (levels_ == nullptr) return gather_.begin(members, send, recv, counts, calls);
    prepare(members, recv, calls);
    counts_ = counts;
    T* const own = recv + before(me_);
    std::int64_t const count = counts[static_cast<std::size_t>(me_)];
    if (send != own) pending_.arrays().copy(send, count, own);
    send_between(own, count);
    tag_ = levels_->within.next_tag();
    begin_node(own_node_);
    if (pending_.in_order) test();  // all steps are launched now, in the same order on all members
  }

  /// The same for parts of `count` elements each; recv has no place for this member's own part.
  [[gnu::cold]] void begin_of_others(communicator const& members, T const* send, T* recv, std::int64_t count) {
    levels_ = levels_in_order(members, members.size() * count * static_cast<std::int64_t>(sizeof(T)));
    if (levels_ == nullptr) return gather_.begin_of_others(members, send, recv, count);
    prepare(members, recv, mpi_calls::nonblocking);
    counts_ = counts_view::even(count, static_cast<std::size_t>(members.size()));
    own_left_out_ = true;
    send_between(send, count);
    tag_ = levels_->within.next_tag();
    gather_.begin_of_others(levels_->within, send, recv + before(own_node_ * each_), count);
    if (pending_.in_order) test();
  }

  /// Makes progress without waiting. True if finish() would not wait either.
  [[gnu::cold]] bool test() {
    while (gather_.test()) {
      if (levels_ == nullptr || done_ == nodes_) return true;
      if (!pending_.test()) return false;
      next_node();
    }
    return false;
  }

  [[gnu::cold]] void finish() {
    gather_.finish();
    for (; levels_ != nullptr && done_ < nodes_; gather_.finish()) {
      counted_.wait();
      pending_.wait();
      counted_.end();
      next_node(nodes_alike());
    }
    counted_.end();
    levels_ = nullptr;
  }

 private:
  void prepare(communicator const& members, T* recv, mpi_calls calls) {
    members.enter();
    me_ = members.rank();
    nodes_ = members.nodes().nodes();
    each_ = members.nodes().each();
    own_node_ = me_ / each_;
    recv_ = recv;
    calls_ = calls;
    own_left_out_ = false;
    done_ = 1;
  }

  // Returns the elements of the message before this member's part.
  [[nodiscard]] std::int64_t before(int member) const {
    std::int64_t const left_out = own_left_out_ && me_ < member ? counts_[static_cast<std::size_t>(me_)] : 0;
    return counts_.before(static_cast<std::size_t>(member)) - left_out;
  }

  // Sends this member's part to the members of the same place on the other nodes, and receives their parts.
  [[gnu::cold]] void send_between(T const* own, std::int64_t count) {
    counted_.begin(levels_->between, collective::all_gather);
    pending_.begin(levels_->between, counted_);
    if (levels_->between.is_dry() && !computes()) {  // the total of these messages
      std::int64_t const bytes = (nodes_ - 1) * count * static_cast<std::int64_t>(sizeof(T));
      return counted_.add(bytes, (nodes_ - 1) * ((count + chunk_limit - 1) / chunk_limit), bytes);
    }
    for (int step = 1; step < nodes_; ++step) {
      int const node = (own_node_ + nodes_ - step) % nodes_;
      int const member = node * each_ + me_ % each_;
      pending_.receive(node, recv_ + before(member), counts_[static_cast<std::size_t>(member)]);
    }
    for (int step = 1; step < nodes_; ++step) pending_.send((own_node_ + step) % nodes_, own, count);
    pending_.flush();
  }

  // Gathers, within this node, the parts that have come from the next node. All members of the node take the nodes in
  // the same order.
  void next_node(int alike = 1) {
    collectives_alike const priced_together(alike);
    begin_node(node_after(done_));
    done_ += alike;
  }
  [[nodiscard]] int node_after(int done) const { return (own_node_ + nodes_ - done) % nodes_; }

  // Returns the number of next nodes with parts of the same lengths, if this run is only priced; otherwise 1.
  [[nodiscard]] int nodes_alike() const {
    if (!levels_->within.is_dry() || computes()) return 1;
    auto const first = [&](int done) { return static_cast<std::size_t>(node_after(done) * each_); };
    int alike = 1;
    while (done_ + alike < nodes_ && counts_.alike(first(done_), first(done_ + alike), static_cast<std::size_t>(each_)))
      ++alike;
    return alike;
  }
  [[gnu::cold]] void begin_node(int node) {
    T* const parts = recv_ + before(node * each_);
    counts_view const counts = counts_.part(static_cast<std::size_t>(node * each_), static_cast<std::size_t>(each_));
    if (calls_ == mpi_calls::nonblocking) return gather_.begin_with_tag(levels_->within, tag_, parts, counts, calls_);
    gather_.begin(levels_->within, recv_ + before(node * each_ + me_ % each_), parts, counts, calls_);
  }

  node_levels const* levels_ = nullptr;
  int me_ = 0;
  int nodes_ = 1;
  int each_ = 1;
  int own_node_ = 0;
  int done_ = 0;  // nodes whose parts have been gathered, or are being gathered
  int tag_ = 0;   // within the node
  T* recv_ = nullptr;
  mpi_calls calls_ = mpi_calls::blocking;
  bool own_left_out_ = false;
  counts_view counts_{nullptr, 0};
  counted_collective counted_;  // between nodes
  detail::messages_on<Arrays> pending_;  // between nodes
  all_gather_in_flight<T, Arrays> gather_;
};

}  // namespace ostraka::engine
