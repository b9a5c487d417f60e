// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Reduce-scatter on two levels, if a group spans several nodes: the devices of a node reduce the parts for
/// each other node among themselves, and send one sum. So one array passes between two nodes, and not one for each
/// device. The total number of bytes is the same as on one level.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <ostraka/engine/collectives/reduce_scatter_in_flight.hpp>
#include <ostraka/engine/levels/levelled_gather.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// A reduce-scatter in flight, as reduce_scatter_in_flight, over two levels if there are two and the parts are long
/// enough; it then allocates its own buffers. It reduces in the order of places on each node, then in the order of
/// nodes; elements of 16 bits are rounded once for each level.
template <class T, class Arrays = host_arrays>
class levelled_reduce_scatter {
 public:
  /// Sets the arrays. Call it before the reduce-scatter begins, unless the arrays are on the host.
  void on(Arrays& arrays) { scatter_.on(arrays); }

  /// True if a reduce-scatter of parts with `total` elements together runs on two levels.
  static bool has_levels(communicator const& members, std::int64_t total) {
    return levels_in_order(members, total * static_cast<std::int64_t>(sizeof(T))) != nullptr;
  }

  /// `pieces` is a buffer for one level, unused with two.
  [[gnu::cold]] void begin(communicator const& members, T const* send, T* recv, counts_view const& counts, T* pieces,
                           reduction how, update<T> const& into = {}, parts_sent sent = parts_sent::all,
                           mpi_calls calls = mpi_calls::blocking) {
    levels_ = levels_in_order(members, counts.total() * static_cast<std::int64_t>(sizeof(T)));
    if (levels_ == nullptr) return scatter_.begin(members, send, recv, counts, pieces, how, into, sent, calls);
    members.enter();
    send_ = send;
    recv_ = recv;
    counts_ = counts;
    how_ = how;
    into_ = into;
    sent_ = sent;
    calls_ = calls;
    me_ = members.rank();
    nodes_ = members.nodes().nodes();
    each_ = members.nodes().each();
    done_ = 0;
    tags_[0] = levels_->within.next_tag();
    tags_[1] = levels_->between.next_tag();
    reserve_buffers();
    next_step();
    if (detail::messages_on<Arrays>::in_order) test();  // all steps are launched now, in the same order on all members
  }

  /// Makes progress without waiting. True if finish() would not wait either.
  [[gnu::cold]] bool test() {
    while (scatter_.test()) {
      if (levels_ == nullptr || done_ > nodes_) return true;
      scatter_.finish();
      next_step();
    }
    return false;
  }

  [[gnu::cold]] void finish() {
    scatter_.finish();
    for (; levels_ != nullptr && done_ <= nodes_; scatter_.finish()) next_step(nodes_alike());
    levels_ = nullptr;
    buffer_ = buffer();
  }

 private:
  using one_level = reduce_scatter_in_flight<T, Arrays>;
  using buffer = kernel_scratch<T, typename Arrays::memory_space>;

  [[nodiscard]] int own_node() const { return me_ / each_; }
  [[nodiscard]] counts_view of_node(int node) const {
    return counts_.part(static_cast<std::size_t>(node * each_), static_cast<std::size_t>(each_));
  }

  // Returns the number of next nodes, this one excluded, with parts of the same lengths, if this run is only priced;
  // otherwise 1.
  [[nodiscard]] int nodes_alike() const {
    if (!levels_->within.is_dry() || computes()) return 1;
    auto const first = [&](int done) { return static_cast<std::size_t>((own_node() + done) % nodes_ * each_); };
    int alike = 1;
    while (done_ + 1 + alike < nodes_ &&
           counts_.alike(first(done_ + 1), first(done_ + 1 + alike), static_cast<std::size_t>(each_)))
      ++alike;
    return alike;
  }

  // Allocates the sums of this node, one for each node, and the arriving pieces.
  [[gnu::cold]] void reserve_buffers() {
    of_place_.clear();
    std::int64_t sums = 0;
    std::int64_t pieces = 0;
    std::int64_t const own_count = counts_[static_cast<std::size_t>(me_)];
    auto const reserve_pieces = [&](communicator const& members, std::int64_t own, counts_view const& counts) {
      pieces = std::max(pieces, one_level::pieces_of(members, own, counts.largest(), calls_));
    };
    bool const even = counts_.first == nullptr;
    before_place_.clear();
    for (int node = 0; node < nodes_ && !even; ++node) {
      before_place_.push_back(sums);
      of_place_.push_back(counts_[static_cast<std::size_t>(node * each_ + me_ % each_)]);
      sums += of_place_.back();
      reserve_pieces(levels_->within, of_place_.back(), of_node(node));
    }
    before_place_.push_back(sums);
    if (even) reserve_pieces(levels_->within, own_count, of_node(own_node()));
    place_counts_ = even ? counts_view::even(own_count, static_cast<std::size_t>(nodes_)) : counts_view(of_place_);
    place_counts_.sums = even ? nullptr : before_place_.data();
    sums = place_counts_.total();
    reserve_pieces(levels_->between, own_count, place_counts_);
    buffer_ = buffer(sums + pieces);
    sums_ = buffer_.data();
    pieces_ = buffer_.data() + sums;
  }

  // Reduces the parts for the nodes, first for the next node, last for this one. The last step reduces the sums that
  // have arrived.
  [[gnu::cold]] void next_step(int alike = 1) {
    if (done_++ == nodes_)
      return scatter_.begin(levels_->between, sums_, recv_, place_counts_, pieces_, how_, into_, parts_sent::all,
                            calls_, tags_[1]);
    int const node = (own_node() + done_) % nodes_;
    bool const left_out = sent_ == parts_sent::all_but_own && me_ < node * each_;
    std::int64_t const from = counts_.before(static_cast<std::size_t>(node * each_)) -
                              (left_out ? counts_[static_cast<std::size_t>(me_)] : 0);
    T* const to = sums_ + place_counts_.before(static_cast<std::size_t>(node));
    collectives_alike const priced_together(alike);
    done_ += alike - 1;
    scatter_.begin(levels_->within, send_ + from, to, of_node(node), pieces_, how_, {},
                   node == own_node() ? sent_ : parts_sent::all, calls_, tags_[0]);
  }

  node_levels const* levels_ = nullptr;
  T const* send_ = nullptr;
  T* recv_ = nullptr;
  counts_view counts_{nullptr, 0};
  short_array<std::int64_t> of_place_;      // counts of the members of this place, by node, if they are uneven
  short_array<std::int64_t> before_place_;  // their prefix sums
  counts_view place_counts_{nullptr, 0};    // a view of them
  reduction how_ = reduction::sum;
  update<T> into_;
  parts_sent sent_ = parts_sent::all;
  mpi_calls calls_ = mpi_calls::blocking;
  int me_ = 0;
  int nodes_ = 1;
  int each_ = 1;
  int done_ = 0;  // steps begun: one for each node, and the last
  int tags_[2]{};
  buffer buffer_;
  T* sums_ = nullptr;
  T* pieces_ = nullptr;
  one_level scatter_;
};

}  // namespace ostraka::engine
