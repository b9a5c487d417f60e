// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-reduce on two levels, if a group spans several nodes: a reduce-scatter on each node, an all-reduce of
/// each share between nodes, an all-gather on each node. The arrays between nodes are shorter by a factor of the number
/// of devices on a node. The total number of bytes is the same as on one level.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <ostraka/engine/collectives/all_reduce_in_flight.hpp>
#include <ostraka/engine/levels/levelled_gather.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// An all-reduce in flight, as all_reduce_in_flight, over two levels if there are two and the array is long enough; it
/// then allocates its own buffers. One group between nodes reduces each share, with the same bits on all its members,
/// and each member passes its share on within its node, so all members get the same bits. Elements of 16 bits are
/// rounded once for each level. A dry group does not change the array.
template <class T, class Arrays = host_arrays>
class levelled_all_reduce {
 public:
  /// Sets the arrays. Call it before the all-reduce begins, unless the arrays are on the host.
  void on(Arrays& arrays) { reduce_.on(arrays); }

  /// True if an all-reduce of `count` elements runs on two levels.
  static bool has_levels(communicator const& members, std::int64_t count) {
    return levels_for(members, count * static_cast<std::int64_t>(sizeof(T))) != nullptr;
  }

  /// `share` and `pieces` are buffers for one level, unused with two.
  [[gnu::cold]] void begin(communicator const& members, T* data, std::int64_t count, reduction how, T* share, T* pieces,
                           mpi_calls calls = mpi_calls::blocking) {
    require_reducible<T>(how);
    levels_ = levels_for(members, count * static_cast<std::int64_t>(sizeof(T)));
    if (levels_ == nullptr) return reduce_.begin(members, data, count, how, share, pieces, calls);
    only_priced_scope const priced_only(members.is_dry());
    members.enter();
    data_ = data;
    how_ = how;
    calls_ = calls;
    step_ = step::scatters;
    counts_.clear();
    own_ = data;
    std::int64_t const each = levels_->within.size();
    for (std::int64_t d = 0; d < each; ++d) {
      counts_.push_back((d + 1) * count / each - d * count / each);
      if (d < levels_->within.rank()) own_ += counts_.back();
    }
    reserve_buffers();
    int const tag = levels_->within.next_tag();
    constexpr std::int64_t short_share = 64 * 1024;  // bytes: below, MPI's is the fastest between many nodes
    bool const by_mpi = calls == mpi_calls::blocking &&
                        count_of_share() * static_cast<std::int64_t>(sizeof(T)) < short_share;
    tag_between_ = by_mpi ? new_tag : levels_->between.next_tag();
    detail::make_on(scatter_, reduce_.arrays())
        .begin(levels_->within, data, share_, counts_, pieces_, how, {}, parts_sent::all, calls, tag);
    if (in_order) test();  // all steps are launched now, in the same order on all members
  }

  /// Makes progress without waiting. True if finish() would not wait either.
  [[gnu::cold]] bool test() {
    if (levels_ == nullptr) return reduce_.test();
    if (step_ == step::scatters) {
      if (!scatter_->test()) return false;
      reduce_share();
    }
    if (step_ == step::reduces) {
      if (!reduce_.test()) return false;
      gather();
    }
    return gather_->test();
  }

  [[gnu::cold]] void finish() {
    if (levels_ == nullptr) return reduce_.finish();
    if (step_ == step::scatters) reduce_share();
    if (step_ == step::reduces) gather();
    gather_->finish();
    levels_ = nullptr;
    buffer_ = buffer();
  }

 private:
  using buffer = kernel_scratch<T, typename Arrays::memory_space>;
  enum class step : std::uint8_t { scatters, reduces, gathers };
  static constexpr bool in_order = detail::messages_on<Arrays>::in_order;

  [[nodiscard]] std::int64_t count_of_share() const {
    return counts_[static_cast<std::size_t>(levels_->within.rank())];
  }

  // Allocates the share of this place, the part of it that is reduced here, and the arriving pieces of either level.
  [[gnu::cold]] void reserve_buffers() {
    std::int64_t const longest = counts_.back();
    std::int64_t const part = share_of_all_reduce(levels_->between, longest);
    std::int64_t const arriving =
        std::max(reduce_scatter_in_flight<T, Arrays>::pieces_of(levels_->within, longest, longest, calls_),
                 reduce_scatter_in_flight<T, Arrays>::pieces_of(levels_->between, part, part, calls_));
    buffer_ = buffer(longest + part + arriving);
    share_ = buffer_.data();
    part_ = share_ + longest;
    pieces_ = part_ + part;
  }

  [[gnu::cold]] void reduce_share() {
    only_priced_scope const priced_only(levels_->within.is_dry());
    scatter_->finish();
    step_ = step::reduces;
    reduce_.begin(levels_->between, share_, count_of_share(), how_, part_, pieces_, calls_, tag_between_);
  }

  // In flight, the time of this step depends on the arrival of messages, so it has no tag of its own, as in
  // all_reduce_in_flight.
  [[gnu::cold]] void gather() {
    only_priced_scope const priced_only(levels_->within.is_dry());
    reduce_.finish();
    step_ = step::gathers;
    if (calls_ == mpi_calls::blocking)
      return detail::make_on(gather_, reduce_.arrays())
          .begin(levels_->within, static_cast<T const*>(share_), data_, counts_, calls_);
    reduce_.arrays().copy(share_, count_of_share(), own_);
    detail::make_on(gather_, reduce_.arrays()).begin_with_tag(levels_->within, scatter_->tag(), data_, counts_, calls_);
  }

  node_levels const* levels_ = nullptr;
  T* data_ = nullptr;
  T* own_ = nullptr;  // this place's share of the data
  reduction how_ = reduction::sum;
  mpi_calls calls_ = mpi_calls::blocking;
  step step_ = step::scatters;
  int tag_between_ = new_tag;
  short_array<std::int64_t> counts_;
  buffer buffer_;
  T* share_ = nullptr;
  T* part_ = nullptr;
  T* pieces_ = nullptr;
  std::optional<reduce_scatter_in_flight<T, Arrays>> scatter_;  // within a node
  all_reduce_in_flight<T, Arrays> reduce_;
  std::optional<all_gather_in_flight<T, Arrays>> gather_;
};

}  // namespace ostraka::engine
