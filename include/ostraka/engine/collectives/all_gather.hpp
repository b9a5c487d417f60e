// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-gather: every member gets every member's part. A[I_X, J] -> A[I, J]. It is begun, and finished later:
/// between the two a device may compute, and begin others.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include <ostraka/engine/collectives/message.hpp>

namespace ostraka::engine {

/// An all-gather in flight. Members begin the collectives of a group in the same order, and finish them in the same
/// order; between the two, what is sent stays as it is and what is received is not touched.
template <class T>
class all_gather_in_flight {
 public:
  /// recv gets the members' parts in member order; counts are the same on all of them, stay where they are until the
  /// end, and send has counts[rank] elements. It overlaps recv only where it is the own part of it.
  void begin(communicator const& members, T const* send, T* recv, counts_view counts,
             [[maybe_unused]] mpi_calls calls = mpi_calls::blocking) {
    std::size_t const me = static_cast<std::size_t>(members.rank());
    if (members.size() == 1) {
      std::copy_n(send, counts[me], recv);
      return;
    }
    members.enter();
#if OSTRAKA_ENABLE_MPI
    std::int64_t const total = counts.total();
    if (total == 0) return;
    std::int64_t const before = std::accumulate(counts.begin(), counts.begin() + me, std::int64_t(0));
    // Two members send one message each way: Open MPI 4's call takes up to twice as long.
    if (calls == mpi_calls::blocking && members.size() > 2 && total <= chunk_limit)
      return gather_by_mpi(members, send, recv, counts, recv + before);
    if (send != recv + before) std::copy_n(send, counts[me], recv + before);
    go_on(members, members.next_tag(), recv, counts, calls);
#endif
  }

#if OSTRAKA_ENABLE_MPI
  /// The same as a part of a collective that has begun, under its tag: each member's part lies in its place.
  void go_on(communicator const& members, int tag, T* recv, counts_view counts, mpi_calls calls) {
    pending_.begin(members, tag);
    steps_ = {&members, recv, counts, calls, 0};
    post();
  }
#endif

  /// The same for parts of `count` elements each, without the own part between the others. In pairs, whatever the number
  /// of members, so that nothing waits here.
  void begin_of_others(communicator const& members, [[maybe_unused]] T const* send, [[maybe_unused]] T* recv,
                       [[maybe_unused]] std::int64_t count) {
    members.enter();
#if OSTRAKA_ENABLE_MPI
    pending_.begin(members);
    int const n = members.size();
    for (int step = 1; step < n; ++step) {
      int const before = (members.rank() + n - step) % n;
      pending_.receive(before, recv + (before < members.rank() ? before : before - 1) * count, count);
    }
    for (int step = 1; step < n; ++step) pending_.send((members.rank() + step) % n, send, count);
#endif
  }

  /// Goes on without waiting; would finish() not wait either?
  bool test() {
#if OSTRAKA_ENABLE_MPI
    while (pending_.test()) {
      if (!more()) return true;
      post();
    }
    return false;
#else
    return true;
#endif
  }

  void finish() {
#if OSTRAKA_ENABLE_MPI
    pending_.wait();
    while (more()) {
      post();
      pending_.wait();
    }
    steps_.members = nullptr;
#endif
  }

 private:
#if OSTRAKA_ENABLE_MPI
  struct in_steps {
    communicator const* members = nullptr;
    T* recv = nullptr;
    counts_view counts{nullptr, 0};
    mpi_calls calls = mpi_calls::blocking;
    int done = 0;  // posted so far
  };

  [[nodiscard]] bool more() const { return steps_.members != nullptr && steps_.done + 1 < steps_.members->size(); }

  // Beyond what a call of MPI can carry, a ring is optimal in bandwidth, and at this length nothing else matters: in
  // step s a member passes on the part of the member s before it. Who computes meanwhile sends its part to each other
  // by itself, so that no step waits for one that nobody has looked at.
  void post() {
    constexpr int window = 32;
    if (steps_.calls == mpi_calls::blocking) return post_step(1, steps_.done);
    for (int k = 0; k < window && more(); ++k) post_step(steps_.done + 1, 0);
  }

  // The part of the member so many before this one goes to the one `apart` further on.
  void post_step(int apart, int passed_on) {
    communicator const& members = *steps_.members;
    int const n = members.size();
    auto const part = [&](int before) { return static_cast<std::size_t>((members.rank() + n - before) % n); };
    auto const at = [&](std::size_t d) {
      return steps_.recv + std::accumulate(steps_.counts.begin(), steps_.counts.begin() + d, std::int64_t(0));
    };
    std::size_t const goes = part(passed_on), arrives = part(passed_on + apart);
    pending_.receive((members.rank() + n - apart) % n, at(arrives), steps_.counts[arrives]);
    pending_.send((members.rank() + apart) % n, at(goes), steps_.counts[goes]);
    ++steps_.done;
  }

  static void gather_by_mpi(communicator const& members, T const* send, T* recv, counts_view counts, T* own) {
    MPI_Datatype const type = detail::message_type<T>();
    int const mine = static_cast<int>(counts[static_cast<std::size_t>(members.rank())]);
    if (counts.all_equal()) {
      MPI_Allgather(send == own ? MPI_IN_PLACE : send, mine, type, recv, mine, type, members.native());
      return;
    }
    if (send != own) std::copy_n(send, mine, own);  // uneven parts need not lie alike: in place is for all or none
    short_array<int> const narrow = detail::to_int(counts);
    short_array<int> const places = detail::to_int(detail::offsets_of(counts));
    MPI_Allgatherv(MPI_IN_PLACE, mine, type, recv, narrow.data(), places.data(), type, members.native());
  }

  detail::messages pending_;
  in_steps steps_;
#endif
};

/// All of it at once.
template <class T>
void all_gather(communicator const& members, T const* send, T* recv, counts_view counts) {
  all_gather_in_flight<T> gather;
  gather.begin(members, send, recv, counts);
  gather.finish();
}

}  // namespace ostraka::engine
