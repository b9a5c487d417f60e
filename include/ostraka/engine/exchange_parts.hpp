// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Boxes of elements from every member of a group to every other. What lies in one run on either side is sent from where it lies and
/// received where it belongs, and so is a long message of long rows, which MPI packs in pieces that stay in the cache; the rest is packed, and put
/// in place. What a device keeps goes from block to block. A[I_X, J] -> A[I, J_X].

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

#include <ostraka/engine/collectives/exchange.hpp>
#include <ostraka/engine/local/workspace.hpp>
#include <ostraka/engine/message_order.hpp>
#include <ostraka/engine/on_host.hpp>

namespace ostraka::engine {

/// Bytes of a message, and of its rows, from which on MPI takes it from where it lies. Shorter rows our own copies pack faster, and a shorter message
/// stays in the cache whole. Tests lower both.
inline std::int64_t shortest_block_message = 128 * 1024;
inline std::int64_t shortest_block_row = 256;

namespace detail {

// Is a part that is no run of memory sent or received as it lies? All numbers are then within MPI's int.
template <class T>
bool travels_as_block(region<T> const& part) {
  std::int64_t const bytes = part.where.size() * static_cast<std::int64_t>(sizeof(T));
  if (bytes < shortest_block_message || part.where.size() > chunk_limit || bytes > std::numeric_limits<int>::max() || part.layout.rank == 0) return false;
  int const row = part.layout.rank - 1;
  return part.layout.stride[row] == 1 && part.layout.extent[row] * static_cast<std::int64_t>(sizeof(T)) >= shortest_block_row;
}

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
  auto const source_of = [&](std::size_t d) { return part_for(from, d, sent(d)); };
  auto const target_of = [&](std::size_t d) { return part_for(to, d, received(d)); };
  std::int64_t packed = 0;
  std::int64_t unpacked = 0;
  short_array<exchanged<T>> parts(static_cast<std::size_t>(members.size()), [&](std::size_t d) {
    exchanged<T> part{nullptr, 0, nullptr, 0};
    if (d == me) return part;
    region<T const> const source = source_of(d);
    region<T> const target = target_of(d);
    part.sent = source.where.size();
    part.received = target.where.size();
    if constexpr (seen_by_host<Exec>) {
      part.sends_block = !source.gapless() && travels_as_block(source);
      part.receives_block = !target.gapless() && how.overwrites() && travels_as_block(target);
      if (part.sends_block || source.gapless()) part.send = source.data;
      if (part.receives_block || (target.gapless() && how.overwrites())) part.receive = target.data;
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
    region<T const> const source = source_of(d);
    copy(exec, dense_region(message, source.where), source);
    message += parts[d].sent;
  }
  exec.fence();
  on_host_in_out<Exec>(exec, static_cast<T const*>(out.data()), packed, in.data(), unpacked, [&](T const* next_sent, T* next_received) {
    short_array<exchanged<T>> const placed(parts.size(), [&](std::size_t d) {
      exchanged<T> part = parts[d];
      if (part.send == nullptr) part.send = next_sent, next_sent += part.sent;
      if (part.receive == nullptr) part.receive = next_received, next_received += part.received;
      return part;
    });
    exchange(members, placed.data(), [&](std::size_t d) { return source_of(d).layout; }, [&](std::size_t d) { return target_of(d).layout; }, [&] {
      if (region<T const> const kept = source_of(me); kept.where.size() > 0) copy(exec, target_of(me), kept, how);
    });
  });
  T const* arrived = in.data();
  for (std::size_t d = 0; d < parts.size(); ++d) {
    if (parts[d].receive != nullptr || parts[d].received == 0) continue;
    region<T> const target = target_of(d);
    copy(exec, target, dense_region(arrived, target.where), how);
    arrived += parts[d].received;
  }
}

}  // namespace detail
}  // namespace ostraka::engine
