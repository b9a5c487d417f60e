// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-gather: every member gets every member's part. A[I_X, J] -> A[I, J]. It is begun, and finished later:
/// between the two a device may compute, and begin others.

#include <algorithm>

#include <ostraka/engine/collectives/message.hpp>

namespace ostraka::engine {

/// An all-gather in flight. recv gets the members' parts in member order; counts are the same on all of them, and send
/// has counts[rank] elements. They overlap only where send is the own part of recv. Until it is finished, send and
/// counts stay as they are and recv is not read.
/// Members begin the collectives of a group in the same order, and finish them in the same order.
template <class T>
class all_gather_in_flight {
 public:
  all_gather_in_flight(communicator const& members, T const* send, T* recv, counts_view counts)
      : members_(members),
        recv_(recv),
        counts_(counts),
        at_(detail::offsets_of(counts))
#if OSTRAKA_ENABLE_MPI
        ,
        pending_(members)
#endif
  {
    if (members.size() == 1) {
      std::copy_n(send, counts[me()], recv);
      return;
    }
    members.enter();
#if OSTRAKA_ENABLE_MPI
    if (at_.back() == 0) return;
    // Two members send one message each way: Open MPI 4's call takes up to twice as long. Beyond what a call of MPI can
    // carry, a ring is optimal in bandwidth, and at this length nothing else matters.
    if (members.size() == 2 || at_.back() > chunk_limit) {
      put_own_part(send);
      post_of_ring(0);
    } else {
      gather_by_mpi(send);
    }
#endif
  }

  void finish() {
#if OSTRAKA_ENABLE_MPI
    if (posted_ == 0) return;
    pending_.wait();
    while (posted_ + 1 < members_.size()) {
      post_of_ring(posted_);
      pending_.wait();
    }
#endif
  }

 private:
  std::size_t me() const { return static_cast<std::size_t>(members_.rank()); }

#if OSTRAKA_ENABLE_MPI
  void put_own_part(T const* send) const {
    if (send != recv_ + at_[me()]) std::copy_n(send, counts_[me()], recv_ + at_[me()]);
  }

  // In step s of the ring a member passes on the part of the member s before it.
  void post_of_ring(int step) {
    int const n = members_.size();
    std::size_t const passed_on = static_cast<std::size_t>((members_.rank() + n - step) % n);
    std::size_t const arriving = static_cast<std::size_t>((members_.rank() + n - step - 1) % n);
    pending_.receive((members_.rank() + n - 1) % n, recv_ + at_[arriving], counts_[arriving]);
    pending_.send((members_.rank() + 1) % n, recv_ + at_[passed_on], counts_[passed_on]);
    posted_ = step + 1;
  }

  void gather_by_mpi(T const* send) const {
    MPI_Datatype const type = detail::message_type<T>();
    int const mine = static_cast<int>(counts_[me()]);
    if (counts_.all_equal()) {
      void const* const own = send == recv_ + at_[me()] ? MPI_IN_PLACE : send;
      MPI_Allgather(own, mine, type, recv_, mine, type, members_.native());
      return;
    }
    put_own_part(send);  // uneven parts need not lie alike, and in place is for all members or none
    short_array<int> const narrow = detail::to_int(counts_);
    short_array<int> const places = detail::to_int(at_);
    MPI_Allgatherv(MPI_IN_PLACE, mine, type, recv_, narrow.data(), places.data(), type, members_.native());
  }
#endif

  communicator const& members_;
  T* recv_;
  counts_view counts_;
  short_array<std::int64_t> at_;
#if OSTRAKA_ENABLE_MPI
  detail::messages pending_;
  int posted_ = 0;  // steps of the ring
#endif
};

/// All of it at once.
template <class T>
void all_gather(communicator const& members, T const* send, T* recv, counts_view counts) {
  all_gather_in_flight<T>(members, send, recv, counts).finish();
}

/// An all-gather in flight, of parts of `count` elements each: recv gets the others' parts in member order, without the
/// own one between them. In pairs, whatever the number of members, so that nothing waits before `finish`.
template <class T>
class all_gather_of_others {
 public:
  all_gather_of_others(communicator const& members, [[maybe_unused]] T const* send, [[maybe_unused]] T* recv,
                       [[maybe_unused]] std::int64_t count)
#if OSTRAKA_ENABLE_MPI
      : pending_(members)
#endif
  {
    members.enter();
#if OSTRAKA_ENABLE_MPI
    int const n = members.size();
    for (int step = 1; step < n; ++step) {
      int const before = (members.rank() + n - step) % n;
      pending_.receive(before, recv + (before < members.rank() ? before : before - 1) * count, count);
    }
    for (int step = 1; step < n; ++step) pending_.send((members.rank() + step) % n, send, count);
#endif
  }

  void finish() {
#if OSTRAKA_ENABLE_MPI
    pending_.wait();
#endif
  }

 private:
#if OSTRAKA_ENABLE_MPI
  detail::messages pending_;
#endif
};

}  // namespace ostraka::engine
