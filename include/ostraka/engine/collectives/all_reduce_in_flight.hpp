// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-reduce: reduces the members' arrays, and every member gets the whole result. A[I]{U_X} -> A[I]. It
/// begins, and is finished later; in between, a device may compute and begin other collectives.

#include <optional>
#include <type_traits>

#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/collectives/reduce_scatter_in_flight.hpp>

namespace ostraka::engine {

/// Returns the elements of the largest part that a member reduces for all.
inline std::int64_t share_of_all_reduce(communicator const& members, std::int64_t count) {
  return (count + members.size() - 1) / members.size();
}

namespace detail {

/// Creates a part of a collective on these arrays.
template <class Part, class Arrays>
Part& make_on(std::optional<Part>& part, Arrays&& arrays) {
  part.emplace();
  part->on(arrays);
  return *part;
}

}  // namespace detail

/// An all-reduce in flight. Members begin the collectives of a group in the same order; between beginning and end, do
/// not access the array.
template <class T, class Arrays = host_arrays>
class all_reduce_in_flight {
 public:
  /// Sets the arrays. Call it before the all-reduce begins, unless the arrays are on the host.
  void on(Arrays& arrays) { pending_.on(arrays); }
  [[nodiscard]] decltype(auto) arrays() const { return pending_.arrays(); }

  /// True if the carrier does the all-reduce. In flight, the carrier does only short arrays: Open MPI sends a longer
  /// array up and down a tree, whereas our own reduce-scatter and all-gather use both directions of all links. Of
  /// arrays in a GPU's memory it does only short ones, since kernels add faster than the host, and none in flight.
  static bool by_carrier(reduction how, std::int64_t count, mpi_calls calls) {
    constexpr std::int64_t shortest = 64 * 1024;  // bytes
    bool const is_short = count * static_cast<std::int64_t>(sizeof(T)) < shortest;
    if constexpr (messages::in_order)
      return messages::group::template reduces_in_order<T>(how);
    else if constexpr (std::is_same_v<Arrays, host_arrays>)
      return carrier::reduces<T>(how) && (calls == mpi_calls::blocking || is_short);
    else
      return carrier::reduces<T>(how) && is_short && (calls == mpi_calls::blocking || messages::copied());
  }

  /// data becomes the reduction over all members, with the same bits on each of them. The caller allocates `share`, of
  /// share_of_all_reduce elements, and `pieces`, of the length for a reduce-scatter of such a part; neither if the
  /// carrier does the all-reduce. All arrays must stay valid until the end. With `tag`, it is a step of a collective
  /// that has begun, and the carrier does not do it.
  [[gnu::cold]] void begin(communicator const& members, T* data, std::int64_t count, reduction how, T* share, T* pieces,
                           mpi_calls calls = mpi_calls::blocking, int tag = new_tag) {
    require_reducible<T>(how);
    if (members.size() == 1 || count == 0) return;
    if (tag == new_tag) members.enter();
    if (tag == new_tag && by_carrier(how, count, calls)) return reduce_by_carrier(members, data, count, how, calls);
    // It moves the same bytes as a reduce-scatter and an all-gather.
    std::int64_t const n = members.size();
    std::int64_t own = 0;
    counts_.clear();
    for (std::int64_t d = 0; d < n; ++d) {
      counts_.push_back((d + 1) * count / n - d * count / n);
      if (d < members.rank()) own += counts_.back();
    }
    members_ = &members;
    data_ = data;
    share_ = share;
    own_ = data + own;
    calls_ = calls;
    scattered_ = false;
    detail::make_on(scatter_, pending_.arrays())
        .begin(members, data, share, counts_, pieces, how, {}, parts_sent::all, calls, tag);
    if (messages::in_order) test();  // as in an all-gather
  }

  /// Makes progress without waiting. True if finish() would not wait either.
  [[gnu::cold]] bool test() {
    if (members_ == nullptr) return pending_.test();
    if (!scattered_) {
      if (!scatter_->test()) return false;
      gather();
    }
    return gather_->test();
  }

  [[gnu::cold]] void finish() {
    if (members_ == nullptr) {
      counted_.wait();
      pending_.wait();
      return counted_.end();
    }
    if (!scattered_) gather();
    gather_->finish();
    members_ = nullptr;
  }

 private:
  using messages = detail::messages_on<Arrays>;

  void reduce_by_carrier(communicator const& members, T* data, std::int64_t count, reduction how, mpi_calls calls) {
    counted_.begin(members, collective::all_reduce);
    counted_.add_all_reduce(count, sizeof(T));
    if (members.is_dry()) return;
    if constexpr (messages::in_order) return members.carried()->all_reduce(pending_.arrays().exec(), data, count, how);
    T* const all = pending_.array_for_carrier(data, count);
    pending_.reads(data, all, count);
    pending_.writes(data, all, count);
    pending_.ready();
    for (std::int64_t done = 0; done < count; done += chunk_limit) {
      std::int64_t const n = std::min(chunk_limit, count - done);
      if (calls == mpi_calls::blocking)
        members.carried()->all_reduce(all + done, n, how);
      else
        members.carried()->all_reduce(all + done, n, how, pending_.begun());
    }
  }

  // Sends each member's reduced part to all. In flight, the time of this step depends on the arrival of messages, so it
  // has no tag of its own: between any two members, its messages follow those of the reduce-scatter.
  void gather() {
    scattered_ = true;
    scatter_->finish();
    if (calls_ == mpi_calls::blocking)
      return detail::make_on(gather_, pending_.arrays())
          .begin(*members_, static_cast<T const*>(share_), data_, counts_, calls_);
    pending_.arrays().copy(share_, counts_[static_cast<std::size_t>(members_->rank())], own_);
    detail::make_on(gather_, pending_.arrays()).begin_with_tag(*members_, scatter_->tag(), data_, counts_, calls_);
  }

  communicator const* members_ = nullptr;  // null if the carrier reduces the elements
  T* data_ = nullptr;
  T* share_ = nullptr;
  T* own_ = nullptr;  // the part of the data that is reduced here
  mpi_calls calls_ = mpi_calls::blocking;
  bool scattered_ = false;
  short_array<std::int64_t> counts_;
  std::optional<reduce_scatter_in_flight<T, Arrays>> scatter_;  // made where they are needed: it costs more than a
  std::optional<all_gather_in_flight<T, Arrays>> gather_;       // short call
  counted_collective counted_;  // for the carrier's own all-reduce
  messages pending_;
};

/// Runs a whole all-reduce.
template <class T>
void all_reduce(communicator const& members, T* data, std::int64_t count, reduction how, T* share, T* pieces) {
  all_reduce_in_flight<T> all;
  all.begin(members, data, count, how, share, pieces);
  all.finish();
}

/// The same with memory that it allocates.
template <class T>
void all_reduce(communicator const& members, T* data, std::int64_t count, reduction how) {
  std::int64_t const part = carrier::reduces<T>(how) || members.size() == 1 ? 0 : share_of_all_reduce(members, count);
  scratch<T, Kokkos::HostSpace> const share(part);
  scratch<T, Kokkos::HostSpace> const pieces(reduce_scatter_in_flight<T>::pieces_of(members, part));
  all_reduce(members, data, count, how, share.data(), pieces.data());
}

}  // namespace ostraka::engine
