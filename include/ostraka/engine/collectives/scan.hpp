// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Scan: member d gets the reduction of the arrays of members 0 to d, or, exclusive, of those before it. It
/// takes ⌈log₂ n⌉ steps, in which arrays go 1, 2, 4, … members on (Hillis and Steele 1986). The order of the sums
/// depends only on the number of members, not on the MPI library. Sums of 16-bit numbers are rounded once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <ostraka/engine/collectives/combine_members.hpp>
#include <ostraka/engine/collectives/permute_in_flight.hpp>
#include <ostraka/engine/groups/device_messages.hpp>
#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// Whether the sum includes this member's own array.
enum class scan_kind : std::uint8_t { inclusive, exclusive };

/// The order in which members are scanned: member_at[p] is the member at place p, own_place the place of this one.
/// Without a list, the order is that of the members' numbers.
struct scan_order {
  int const* member_at = nullptr;
  int own_place = -1;

  [[nodiscard]] int place_of(communicator const& members) const { return member_at ? own_place : members.rank(); }
  [[nodiscard]] int member(int place) const { return member_at ? member_at[place] : place; }
};

/// Returns the number of messages that all members of a scan send together.
constexpr std::int64_t messages_of_scan(std::int64_t n, scan_kind kind) {
  std::int64_t sent = kind == scan_kind::exclusive ? n - 1 : 0;
  for (std::int64_t by = 1; by < n; by *= 2) sent += n - by;
  return sent;
}

namespace detail {

template <class T>
void combine_in(host_arrays const&, reduction how, T* to, T const* from, std::int64_t count) {
  if (computes()) combine_run(how, to, from, count);
}
template <class Exec, class T>
void combine_in(device_arrays<Exec> const& arrays, reduction how, T* to, T const* from, std::int64_t count) {
  combine_run(arrays.exec(), how, to, from, count);
}

template <class T>
void fill_in(host_arrays const&, T* to, std::int64_t count, T value) {
  if (computes()) std::fill_n(to, count, value);
}
template <class Exec, class T>
void fill_in(device_arrays<Exec> const& arrays, T* to, std::int64_t count, T value) {
  fill(arrays.exec(), to, count, value);
}

// Scans in `mine`, with `buffer` as a second array of the same length. Returns the array that holds the result.
template <class T, class Arrays>
T* scan_in_steps(communicator const& members, Arrays& arrays, T* mine, T* buffer, std::int64_t count, reduction how,
                 scan_kind kind, scan_order order) {
  int const n = members.size(), me = order.place_of(members);
  permute_in_flight<T, Arrays> step;
  step.on(arrays);
  auto const shift = [&](int by) {
    hops_here const here{me + by < n ? order.member(me + by) : -1, me >= by ? order.member(me - by) : -1};
    step.begin(members, here, {mine, count, buffer, count});
    step.finish();
    return here.from >= 0;
  };
  for (int by = 1; by < n; by *= 2)
    if (shift(by)) {
      combine_in(arrays, how, buffer, static_cast<T const*>(mine), count);  // earlier members are on the left
      std::swap(mine, buffer);
    }
  if (kind == scan_kind::inclusive) return mine;
  if (!shift(1)) fill_in(arrays, buffer, count, identity<T>(how));
  return buffer;
}

}  // namespace detail

/// data becomes the reduction of the members' arrays up to this one's. `count` is the same on all members. In an
/// exclusive scan the first member, in the order of `order`, gets the identity. The caller fences `arrays`.
template <class T, class Arrays>
void scan(communicator const& members, Arrays& arrays, T* data, std::int64_t count, reduction how, scan_kind kind,
          scan_order order) {
  using memory = typename Arrays::memory_space;
  require_reducible<T>(how);
  if constexpr (is_narrow<T>) {
    kernel_scratch<float, memory> const mine(count), buffer(count);
    arrays.copy(static_cast<T const*>(data), count, mine.data());
    float const* const sums =
        detail::scan_in_steps(members, arrays, mine.data(), buffer.data(), count, how, kind, order);
    arrays.copy(sums, count, data);
  } else {
    kernel_scratch<T, memory> const buffer(count);
    T const* const sums = detail::scan_in_steps(members, arrays, data, buffer.data(), count, how, kind, order);
    if (sums != data) arrays.copy(sums, count, data);
  }
}

/// The same for an array on the host.
template <class T>
void scan(communicator const& members, T* data, std::int64_t count, reduction how,
          scan_kind kind = scan_kind::inclusive, scan_order order = {}) {
  host_arrays here;
  scan(members, here, data, count, how, kind, order);
}

}  // namespace ostraka::engine
