// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Boxes of elements from every member of a group to every other. What lies in one run on either side is sent from where it lies and
/// received where it belongs; the rest is packed, and put in place. What a device keeps goes from block to block. A[I_X, J] -> A[I, J_X].

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/collectives/exchange.hpp>
#include <ostraka/engine/local/workspace.hpp>
#include <ostraka/engine/message_order.hpp>
#include <ostraka/engine/on_host.hpp>

namespace ostraka::engine::detail {

// The part of a block for member `d`: by its indices, or where it lies in a message of equal parts.
template <class T>
region<T> part_for(region<T> const& block, std::size_t d, box const& inner) {
  if (block.across.empty()) return block.part(inner);
  return dense_region(block.data + static_cast<std::int64_t>(d) * inner.size(), inner);
}

/// Sends sent(d) of `from` to member d and receives received(d) of `to` from there, written as `how` says. What is sent to a device is what it
/// receives. @pre sent(d) of this device is received(d) of it
template <class Exec, class T, class Sent, class Received>
void exchange_parts(Exec const& exec, communicator const& members, region<T const> const& from, region<T> const& to, update<T> const& how, Sent const& sent,
                    Received const& received) {
  auto const me = static_cast<std::size_t>(members.rank());
  std::int64_t packed = 0;
  std::int64_t unpacked = 0;
  short_array<exchanged<T>> parts(static_cast<std::size_t>(members.size()), [&](std::size_t d) {
    exchanged<T> part{nullptr, 0, nullptr, 0};
    if (d == me) return part;
    box const out = sent(d);
    box const in = received(d);
    part.sent = out.size();
    part.received = in.size();
    if constexpr (seen_by_host<Exec>) {
      region<T const> const source = part_for(from, d, out);
      region<T> const target = part_for(to, d, in);
      if (source.gapless()) part.send = source.data;
      if (target.gapless() && how.overwrites()) part.receive = target.data;
    }
    packed += part.send == nullptr ? part.sent : 0;
    unpacked += part.receive == nullptr ? part.received : 0;
    return part;
  });
  scratch<T, typename Exec::memory_space> const out(packed);
  scratch<T, typename Exec::memory_space> const in(unpacked);
  T* message = out.data();
  for (std::size_t d = 0; d < parts.size(); ++d) {
    if (parts[d].send != nullptr || parts[d].sent == 0) continue;
    box const b = sent(d);
    copy(exec, dense_region(message, b), part_for(from, d, b));
    message += b.size();
  }
  exec.fence();
  on_host_in_out<Exec>(exec, static_cast<T const*>(out.data()), packed, in.data(), unpacked, [&](T const* next_sent, T* next_received) {
    short_array<exchanged<T>> const placed(parts.size(), [&](std::size_t d) {
      exchanged<T> part = parts[d];
      if (part.send == nullptr) part.send = next_sent, next_sent += part.sent;
      if (part.receive == nullptr) part.receive = next_received, next_received += part.received;
      return part;
    });
    exchange(members, placed.data());
  });
  box const kept = sent(me);
  if (kept.size() > 0) copy(exec, part_for(to, me, kept), part_for(from, me, kept), how);
  T const* arrived = in.data();
  for (std::size_t d = 0; d < parts.size(); ++d) {
    if (parts[d].receive != nullptr || parts[d].received == 0) continue;
    box const b = received(d);
    copy(exec, part_for(to, d, b), dense_region(arrived, b), how);
    arrived += b.size();
  }
}

}  // namespace ostraka::engine::detail
