// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Boxes of elements from every member of a group to every other. What lies in one run on either side is sent
/// from where it lies and received where it belongs, and so is a long message of long rows, which MPI packs in pieces
/// that stay in the cache; the rest is packed, and put in place. What a device keeps goes from block to block. A[I_X,
/// J] -> A[I, J_X].

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

#include <ostraka/engine/collectives/exchange.hpp>
#include <ostraka/engine/memory/dynamic_array.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/engine/moves/message_blocks.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/engine/moves/transport.hpp>

namespace ostraka::engine {

namespace detail {

// Is a part that is no run of memory sent or received as it lies? All numbers are then within MPI's int.
template <class T>
bool travels_as_block(region<T> const& part) {
  std::int64_t const bytes = part.where.size() * static_cast<std::int64_t>(sizeof(T));
  if (bytes < shortest_block_message || part.where.size() > chunk_limit || bytes > std::numeric_limits<int>::max() ||
      part.where.rank == 0)
    return false;
  int const row = part.where.rank - 1;
  return part.stride[row] == 1 &&
         part.where.at[row].size() * static_cast<std::int64_t>(sizeof(T)) >= shortest_block_row;
}

// The part of a block for member `d`: by its indices, or where it lies in a message of equal parts.
template <class T>
region<T> part_for(region<T> const& block, std::size_t d, box const& inner) {
  if (block.across.empty()) return block.part(inner);
  return dense_region(block.data + static_cast<std::int64_t>(d) * inner.size(), inner);
}

}  // namespace detail

/// What goes to one member of a group and comes from there: elements, and where they begin behind the blocks' first.
struct part_of_exchange {
  std::int64_t sent = 0;
  std::int64_t send_at = 0;
  std::int64_t received = 0;
  std::int64_t receive_at = 0;
  bool sent_as_it_lies = false;  // a run
  bool received_as_it_lies = false;
  bool sends_block = false;  // no run, but a message all the same
  bool receives_block = false;
};

/// What exchanges of equal blocks have in common.
template <class T>
struct exchange_record {
  bool known = false;
  dynamic_array<part_of_exchange> parts{};  // by member
  std::size_t blocks = 0;                   // sent or received as they lie
  region<T const> kept{};                 // what a device keeps: where it is, and where it belongs
  region<T> kept_here{};

  template <class Exec, class Source, class Target>
  void find_out(std::size_t members, std::size_t me, region<T const> const& from, region<T> const& to,
                Source const& source_of, Target const& target_of) {
    parts.assign(members, {});
    blocks = 0;
    for (std::size_t d = 0; d < members; ++d) {
      region<T const> const source = source_of(d);
      region<T> const target = target_of(d);
      part_of_exchange& p = parts[d];
      p.sent = source.where.size();
      p.received = target.where.size();
      p.send_at = p.sent > 0 ? source.data - from.data : 0;
      p.receive_at = p.received > 0 ? target.data - to.data : 0;
      if (d == me) kept = source, kept_here = target;
      if (d == me || is_gpu_memory<Exec>()) continue;
      p.sent_as_it_lies = source.gapless();
      p.received_as_it_lies = target.gapless();
      p.sends_block = !p.sent_as_it_lies && detail::travels_as_block(source);
      p.receives_block = !p.received_as_it_lies && detail::travels_as_block(target);
      blocks += (p.sends_block ? 1u : 0u) + (p.receives_block ? 1u : 0u);
    }
    known = true;
  }
};

/// The record of exchanges that are not repeated, whose memory is.
template <class T>
exchange_record<T>& passing_exchange() {
  static thread_local constinit exchange_record<T>* place = nullptr;
  exchange_record<T>& passing = per_thread(place);
  passing.known = false;
  return passing;
}

namespace detail {

/// Sends sent(d) of `from` to member d and receives received(d) of `to` from there, written as `how` says. What is sent
/// to a device is what it receives. @pre sent(d) of this device is received(d) of it; a record is of equal blocks and
/// the same members
template <class Exec, class T, class Sent, class Received>
void exchange_parts(Exec const& exec, communicator const& members, region<T const> const& from, region<T> const& to,
                    update<T> const& how, Sent const& sent, Received const& received, exchange_record<T>& record) {
  auto const me = static_cast<std::size_t>(members.rank());
  auto const source_of = [&](std::size_t d) { return part_for(from, d, sent(d)); };
  auto const target_of = [&](std::size_t d) { return part_for(to, d, received(d)); };
  if (!record.known)
    record.template find_out<Exec>(static_cast<std::size_t>(members.size()), me, from, to, source_of, target_of);
  std::int64_t packed = 0;
  std::int64_t unpacked = 0;
  short_array<strided, 1> layouts;  // of what MPI takes from where it lies, and puts where it belongs
  if (record.blocks > 0) layouts.reserve(record.blocks);
  short_array<exchanged<T>> parts(record.parts.size(), [&](std::size_t d) {
    exchanged<T> part{nullptr, 0, nullptr, 0};
    if (d == me) return part;
    part_of_exchange const& p = record.parts[d];
    part.sent = p.sent;
    part.received = p.received;
    if (p.sends_block) part.block_sent = &layouts.push_back(source_of(d).layout());
    if (p.receives_block && how.overwrites()) part.block_received = &layouts.push_back(target_of(d).layout());
    if (p.sends_block || p.sent_as_it_lies) part.send = from.data + p.send_at;
    if (part.block_received != nullptr || (p.received_as_it_lies && how.overwrites()))
      part.receive = to.data + p.receive_at;
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
  fence(exec);
  with_arrays_for_mpi(exec, host_work::carries, static_cast<T const*>(out.data()), packed, in.data(), unpacked,
                      [&](T const* next_sent, T* next_received) {
                        short_array<exchanged<T>> const placed(parts.size(), [&](std::size_t d) {
                          exchanged<T> part = parts[d];
                          if (part.send == nullptr) part.send = next_sent, next_sent += part.sent;
                          if (part.receive == nullptr) part.receive = next_received, next_received += part.received;
                          return part;
                        });
                        exchange(members, placed.data(), [&] {
                          record.kept.data = from.data + record.parts[me].send_at;
                          record.kept_here.data = to.data + record.parts[me].receive_at;
                          if (record.parts[me].sent > 0) copy(exec, record.kept_here, record.kept, how);
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

/// The same for who does not exchange such blocks again.
template <class Exec, class T, class Sent, class Received>
void exchange_parts(Exec const& exec, communicator const& members, region<T const> const& from, region<T> const& to,
                    update<T> const& how, Sent const& sent, Received const& received) {
  exchange_parts(exec, members, from, to, how, sent, received, passing_exchange<T>());
}

}  // namespace detail
}  // namespace ostraka::engine
