// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Gather: one member gets every member's part. A[I_X] -> A[I] on one device, for output.

#include <ostraka/engine/groups/message.hpp>

namespace ostraka::engine {

/// On member `root`, recv receives the parts in member order; elsewhere it is not touched. counts are the same on all
/// members.
template <class T>
void gather(communicator const& members, T const* send, T* recv, counts_view const& counts, int root = 0) {
  short_array<std::int64_t> const at = detail::offsets_of(counts);
  std::size_t const me = static_cast<std::size_t>(members.rank());
  if (members.size() == 1) {
    detail::copy_part(send, counts[me], recv);
    return;
  }
  bool const is_root = members.rank() == root;
  counted_collective counted(members, collective::gather);
  counted.wait();
  if (members.is_dry() || at.back() <= chunk_limit) detail::count_parts(counted, members, counts, root, int{sizeof(T)});
  if (members.is_dry()) {
    if (!is_root) return;
    detail::receive_zeros(recv, at.back());
    detail::copy_part(send, counts[me], recv + at[me]);
    return;
  }
  members.enter();
  if (at.back() <= chunk_limit) return members.carried()->gather(send, recv, counts, root);
  detail::messages pending;  // destroyed first
  pending.begin(members, counted);
  if (is_root) {
    detail::copy_part(send, counts[me], recv + at[me]);
    for (int d = 0; d < members.size(); ++d)
      if (d != root) pending.receive(d, recv + at[static_cast<std::size_t>(d)], counts[static_cast<std::size_t>(d)]);
  } else {
    pending.send(root, send, counts[me]);
  }
}

}  // namespace ostraka::engine
