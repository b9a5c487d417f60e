// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-gather: every member gets every member's part. A[I_X, J] -> A[I, J].

#include <ostraka/engine/collectives/message.hpp>

namespace ostraka::engine {

/// recv holds the members' parts in member order; counts are the same on all of them and send has counts[rank]
/// elements. They overlap only where send is the own part of recv.
template <class T>
void all_gather(communicator const& members, T const* send, T* recv, counts_view counts) {
  short_array<std::int64_t> const at = detail::offsets_of(counts);
  std::size_t const me = static_cast<std::size_t>(members.rank());
  if (members.size() == 1) {
    std::copy_n(send, counts[me], recv);
    return;
  }
  members.enter();
#if OSTRAKA_ENABLE_MPI
  MPI_Datatype const type = detail::message_type<T>();
  if (at.back() == 0) return;
  if (members.size() ==
      2) {  // one message each way, whatever the algorithm: Open MPI 4's call takes up to twice as long
    detail::messages pending(members);
    if (send != recv + at[me]) std::copy_n(send, counts[me], recv + at[me]);
    pending.receive(1 - members.rank(), recv + at[1 - me], counts[1 - me]);
    pending.send(1 - members.rank(), send, counts[me]);
    return;
  }
  if (at.back() <= chunk_limit) {
    int const mine = static_cast<int>(counts[me]);
    if (counts.all_equal()) {
      void const* const own = send == recv + at[me] ? MPI_IN_PLACE : send;
      MPI_Allgather(own, mine, type, recv, mine, type, members.native());
    } else {
      short_array<int> const narrow = detail::to_int(counts);
      short_array<int> const places = detail::to_int(at);
      if (send != recv + at[me])
        std::copy_n(send, mine,
                    recv + at[me]);  // uneven parts need not lie alike, and in place is for all members or none
      MPI_Allgatherv(MPI_IN_PLACE, mine, type, recv, narrow.data(), places.data(), type, members.native());
    }
    return;
  }
  // A ring, each part in as many messages as it needs: bandwidth-optimal, and at this length nothing else matters.
  int const n = members.size();
  int const before = (members.rank() + n - 1) % n;
  int const after = (members.rank() + 1) % n;
  if (send != recv + at[me]) std::copy_n(send, counts[me], recv + at[me]);
  detail::messages pending(members);
  for (int step = 0; step + 1 < n; ++step) {
    std::size_t const passed_on = static_cast<std::size_t>((members.rank() + n - step) % n);
    std::size_t const arriving = static_cast<std::size_t>((members.rank() + n - step - 1) % n);
    pending.receive(before, recv + at[arriving], counts[arriving]);
    pending.send(after, recv + at[passed_on], counts[passed_on]);
    pending.wait();
  }
#endif
}

/// An all-gather under way, of parts of `count` elements each: recv gets the others' parts in member order, without the
/// own one between them. In pairs, whatever their number: each device can do something else until it waits.
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

  void wait() {
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
