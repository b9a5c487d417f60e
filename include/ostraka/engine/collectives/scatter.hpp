// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Scatter and broadcast: one member's parts to every member, one member's elements to all. A[I] on one device
/// → A[I_X], for input.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/groups/device_messages.hpp>

namespace ostraka::engine {

/// On member `root`, send holds the parts in member order; elsewhere it is not read. counts are the same on all
/// members.
template <class T>
void scatter(communicator const& members, T const* send, T* recv, counts_view const& counts, int root = 0) {
  short_array<std::int64_t> const at = detail::offsets_of(counts);
  std::size_t const me = static_cast<std::size_t>(members.rank());
  if (members.size() == 1) {
    detail::copy_part(send, counts[me], recv);
    return;
  }
  bool const is_root = members.rank() == root;
  counted_collective counted(members, collective::scatter);
  counted.wait();
  if (members.is_dry() || at.back() <= chunk_limit) detail::count_parts(counted, members, counts, root, int{sizeof(T)});
  if (members.is_dry()) {
    is_root ? detail::copy_part(send + at[me], counts[me], recv) : detail::receive_zeros(recv, counts[me]);
    return;
  }
  members.enter();
  if (at.back() <= chunk_limit) return members.carried()->scatter(send, recv, counts, root);
  detail::messages pending;  // destroyed first
  pending.begin(members, counted);
  if (is_root) {
    detail::copy_part(send + at[me], counts[me], recv);
    for (int d = 0; d < members.size(); ++d)
      if (d != root) pending.send(d, send + at[static_cast<std::size_t>(d)], counts[static_cast<std::size_t>(d)]);
  } else {
    pending.receive(root, recv, counts[me]);
  }
}

/// A broadcast in flight. Members begin the collectives of a group in the same order; between beginning and end, do not
/// write the data.
template <class T, class Arrays = host_arrays>
class broadcast_in_flight {
 public:
  /// Sets the arrays. Call it before the broadcast begins, unless the arrays are on the host.
  void on(Arrays& arrays) { both_.pending.on(arrays); }

  /// data on member `root` → data on all members.
  void begin(communicator const& members, T* data, std::int64_t count, int root, mpi_calls calls) {
    if (members.size() == 1) return;
    bool const is_root = members.rank() == root;
    both_.counted.begin(members, collective::broadcast);
    std::int64_t const bytes = is_root ? count * static_cast<std::int64_t>(sizeof(T)) : 0;
    both_.counted.add_of_each((members.size() - 1) * bytes, [&](int) { return bytes; });
    if (members.is_dry()) return is_root ? void() : detail::receive_zeros(data, count);
    members.enter();
    if constexpr (detail::messages_on<Arrays>::in_order)
      return members.carried()->broadcast(both_.pending.arrays().exec(), data,
                                          count * static_cast<std::int64_t>(sizeof(T)), root);
    T* const all = both_.pending.array_for_carrier(data, count);
    is_root ? both_.pending.reads(data, all, count) : both_.pending.writes(data, all, count);
    both_.pending.ready();
    bool const returns_at_once = calls != mpi_calls::blocking && takes_arrays_in_flight(all == data);
    for (std::int64_t done = 0; done < count; done += chunk_limit) {
      std::int64_t const n = std::min(chunk_limit, count - done);
      if (returns_at_once)
        members.carried()->broadcast(all + done, n, root, both_.pending.begun());
      else
        members.carried()->broadcast(all + done, n, root);
    }
  }

  /// Makes progress without waiting. True if finish() would not wait either.
  bool test() { return both_.test(); }
  void finish() { both_.finish(); }

 private:
  // Nonblocking collectives of MPI take no GPU memory, according to Open MPI's documentation.
  static constexpr bool takes_arrays_in_flight([[maybe_unused]] bool in_place) {
    return std::is_same_v<Arrays, host_arrays> || !in_place;
  }

  detail::counted_messages<Arrays> both_;
};

/// Runs a whole broadcast.
template <class T>
void broadcast(communicator const& members, T* data, std::int64_t count, int root = 0) {
  broadcast_in_flight<T>().begin(members, data, count, root, mpi_calls::blocking);
}

}  // namespace ostraka::engine
