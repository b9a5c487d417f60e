// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-gather: every member gets every member's part. A[I_X, J] -> A[I, J]. It begins, and is finished later;
/// in between, a device may compute and begin other collectives.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/groups/device_messages.hpp>

namespace ostraka::engine {

/// An all-gather in flight. Members begin the collectives of a group in the same order, and finish them in the same
/// order. In between, do not change the data sent, and do not access the memory received.
template <class T, class Arrays = host_arrays>
class all_gather_in_flight {
 public:
  /// Sets the arrays. Call it before the all-gather begins, unless the arrays are on the host.
  void on(Arrays& arrays) { pending_.on(arrays); }
  [[nodiscard]] decltype(auto) arrays() const { return pending_.arrays(); }

  /// recv gets the members' parts in member order. counts are the same on all members, and must stay valid until the
  /// end. send has counts[rank] elements, and overlaps recv only if it is this member's part of recv.
  [[gnu::cold]] void begin(communicator const& members, T const* send, T* recv, counts_view const& counts,
                           mpi_calls calls = mpi_calls::blocking) {
    std::size_t const me = static_cast<std::size_t>(members.rank());
    if (members.size() == 1) {
      pending_.arrays().copy(send, counts[me], recv);
      return;
    }
    members.enter();
    std::int64_t const total = counts.total();
    if (total == 0) return;
    std::int64_t const before = counts.before(me);
    // Two members send one message each way: Open MPI 4's call takes up to twice as long.
    if (!pending_.in_order && calls == mpi_calls::blocking && members.size() > 2 && total <= chunk_limit)
      return gather_by_carrier(members, send, recv, counts, recv + before);
    begin_with_tag(members, members.next_tag(), send, recv, counts, calls);
    // The messages travel meanwhile. The part is sent from `send`, since data just written are far from the process
    // that reads them.
    if (send != recv + before) pending_.arrays().copy(send, counts[me], recv + before);
  }

  /// The same as a step of a collective that has begun, with its tag. Each member's part is already in its place in
  /// recv.
  void begin_with_tag(communicator const& members, int tag, T* recv, counts_view const& counts, mpi_calls calls) {
    begin_with_tag(members, tag, recv + counts.before(static_cast<std::size_t>(members.rank())), recv, counts, calls);
  }

  /// The same for parts of `count` elements each; recv has no place for this member's own part. It sends in pairs,
  /// whatever the number of members, so that this call does not wait.
  [[gnu::cold]] void begin_of_others(communicator const& members, T const* send, T* recv, std::int64_t count) {
    members.enter();
    counted_.begin(members, collective::all_gather);
    pending_.begin(members, counted_);
    int const n = members.size();
    if (members.is_dry() && !computes())
      return count_steps(members, counts_view::even(count, static_cast<std::size_t>(n)), mpi_calls::nonblocking);
    for (int step = 1; step < n; ++step) {
      int const before = (members.rank() + n - step) % n;
      pending_.receive(before, recv + (before < members.rank() ? before : before - 1) * count, count);
    }
    for (int step = 1; step < n; ++step) pending_.send((members.rank() + step) % n, send, count);
    pending_.flush();
  }

  /// Makes progress without waiting. True if finish() would not wait either.
  [[gnu::cold]] bool test() {
    while (pending_.test()) {
      if (!more()) return true;
      post();
    }
    return false;
  }

  [[gnu::cold]] void finish() {
    counted_.wait();
    pending_.wait();
    while (more()) {
      post();
      pending_.wait();
    }
    steps_.members = nullptr;
    counted_.end();
  }

 private:
  struct in_steps {
    communicator const* members = nullptr;
    counts_view counts{nullptr, 0};
    mpi_calls calls = mpi_calls::blocking;
    T* end = nullptr;        // the end of all parts
    T const* own = nullptr;  // this member's part, as it is sent
    T* latest = nullptr;     // the latest part posted, arrived or not: first this member's, then earlier members'
    int done = 0;            // number posted so far
  };

  [[nodiscard]] bool more() const { return steps_.members != nullptr && steps_.done + 1 < steps_.members->size(); }

  // For data beyond the carrier's largest call, a ring has optimal bandwidth, and at this length nothing else matters:
  // in step s a member passes on the part of the member s before it. A member that computes meanwhile sends its own
  // part to each other member, so that no step waits until the member notices that an earlier one is done. So does a
  // GPU, which in a ring would copy the parts of others to the host again.
  void post() {
    constexpr int window = 32;
    if (travels_in_ring(steps_.calls))
      post_step(1, steps_.done, steps_.done == 0 ? steps_.own : steps_.latest);
    else
      for (int k = 0; k < window && more(); ++k) post_step(steps_.done + 1, 0, steps_.own);
    pending_.flush();
  }
  static bool travels_in_ring(mpi_calls calls) {
    return std::is_same_v<Arrays, host_arrays> && calls == mpi_calls::blocking;
  }

  // Counts what all steps would send, and sends nothing.
  void count_steps(communicator const& members, counts_view const& counts, mpi_calls calls) {
    constexpr std::int64_t width = sizeof(T);
    auto const messages = [](std::int64_t n) { return (n + chunk_limit - 1) / chunk_limit; };
    int const n = members.size(), after = (members.rank() + 1) % n;
    if (travels_in_ring(calls)) {  // all parts but that of the next member, to which it sends
      std::int64_t const last = counts[static_cast<std::size_t>(after)];
      return counted_.add_sent(after, (counts.total() - last) * width, counts.sum_of(messages) - messages(last));
    }
    std::int64_t const own = counts[static_cast<std::size_t>(members.rank())];
    counted_.add_of_each((n - 1) * own * width, [&](int) { return own * width; }, (n - 1) * messages(own));
  }

  // Sends the part of the member `distance` before this one to the member `apart` further on.
  void post_step(int apart, int distance, T const* own_part) {
    int const n = steps_.members->size(), me = steps_.members->rank();
    auto const part = [&](int before) { return static_cast<std::size_t>((me + n - before) % n); };
    std::size_t const goes = part(distance), arrives = part(distance + apart);
    bool const is_last = arrives + 1 == static_cast<std::size_t>(n);  // it comes before the first
    steps_.latest = (is_last ? steps_.end : steps_.latest) - steps_.counts[arrives];
    pending_.receive((me + n - apart) % n, steps_.latest, steps_.counts[arrives]);
    pending_.send((me + apart) % n, own_part, steps_.counts[goes]);
    ++steps_.done;
  }

  void begin_with_tag(communicator const& members, int tag, T const* own, T* recv, counts_view const& counts,
                      mpi_calls calls) {
    counted_.begin(members, collective::all_gather);
    pending_.begin(members, tag, counted_);
    if (members.is_dry() && !computes()) return count_steps(members, counts, calls);
    T* const place = recv + counts.before(static_cast<std::size_t>(members.rank()));
    steps_ = {&members, counts, calls, recv + counts.total(), own, place, 0};
    post();
    if (pending_.in_order) test();  // all steps are launched now, in the same order on all members
  }

  void gather_by_carrier(communicator const& members, T const* send, T* recv, counts_view const& counts, T* own) {
    std::int64_t const mine = counts[static_cast<std::size_t>(members.rank())];
    std::int64_t const total = counts.total();
    counted_.begin(members, collective::all_gather);
    counted_.add_of_each((total - mine) * static_cast<std::int64_t>(sizeof(T)), [&](int d) {
      return counts[static_cast<std::size_t>(d)] * static_cast<std::int64_t>(sizeof(T));
    });
    std::int64_t const before = own - recv, behind = total - before - mine;
    if (members.is_dry()) {
      if (send != own) pending_.arrays().copy(send, mine, own);
      detail::receive_zeros(recv, before);
      return detail::receive_zeros(own + mine, behind);
    }
    bool const in_place = !std::is_same_v<Arrays, host_arrays> || !counts.all_equal();  // uneven parts: members may
    if (in_place && send != own) pending_.arrays().copy(send, mine, own);  // differ, so all are in place
    T* const all = pending_.array_for_carrier(recv, total);
    pending_.reads(own, all + before, mine);
    pending_.writes(recv, all, before);
    pending_.writes(own + mine, all + before + mine, behind);
    pending_.ready();
    if (counts.all_equal()) return members.carried()->all_gather(in_place ? all + before : send, all, mine);
    members.carried()->all_gather(all, counts);
  }

  counted_collective counted_;
  detail::messages_on<Arrays> pending_;
  in_steps steps_;
};

/// Runs a whole all-gather. The caller fences `arrays`.
template <class T, class Arrays>
void all_gather(communicator const& members, Arrays& arrays, T const* send, T* recv, counts_view const& counts) {
  all_gather_in_flight<T, Arrays> gather;
  gather.on(arrays);
  gather.begin(members, send, recv, counts);
  gather.finish();
}

/// The same for arrays on the host.
template <class T>
void all_gather(communicator const& members, T const* send, T* recv, counts_view const& counts) {
  host_arrays here;
  all_gather(members, here, send, recv, counts);
}

}  // namespace ostraka::engine
