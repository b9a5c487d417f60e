// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The parts that collectives share: messages, and the limit that keeps counts in the range of MPI's int;
/// longer messages are sent in chunks of that size. In a dry group, messages are counted, and zeros arrive.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/groups/counted_collective.hpp>
#include <ostraka/engine/groups/device_arrays.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

/// The most elements that one call of the carrier takes. Counts of MPI before version 4 are int; tests lower this limit
/// to run the chunked paths with small arrays.
[[gnu::visibility("default")]] inline std::int64_t chunk_limit = std::int64_t(1) << 30;

/// The kind of call to the carrier for a collective: blocking, which is fastest if the caller has nothing to do
/// meanwhile, or nonblocking, which returns at once.
enum class mpi_calls : std::uint8_t { blocking, nonblocking };

/// Stands for a tag: the collective begins now, and takes a new tag.
inline constexpr int new_tag = -1;

/// Returns the tag of a collective that begins now, or that is a part of the one with this tag.
inline int tag_of_collective(communicator const& members, int tag) {
  if (tag != new_tag) return tag;
  members.enter();
  return members.next_tag();
}

namespace detail {

/// Returns where each member's part begins in a buffer that holds the parts in member order; the last entry is the end.
inline short_array<std::int64_t> offsets_of(counts_view const& counts) {
  std::int64_t next = 0;
  return {counts.size() + 1, [&](std::size_t d) {
            std::int64_t const begin = next;
            next += d < counts.size() ? counts[d] : 0;
            return begin;
          }};
}

/// Counts what the root of a gather or a scatter moves: the parts of all other members.
inline void count_parts(counted_collective& counted, communicator const& members, counts_view const& counts, int root,
                        int element_bytes) {
  auto const bytes_of = [&](int d) {
    return members.rank() == root ? counts[static_cast<std::size_t>(d)] * element_bytes : 0;
  };
  std::int64_t bytes = 0;
  for (int d = 0; d < members.size(); ++d) bytes += d == root ? 0 : bytes_of(d);
  counted.add_of_each(bytes, bytes_of);
}

/// Writes the data that arrive in a dry group: zeros, which are valid numbers and valid indices. Does not change data
/// outside host memory.
template <class T>
void receive_zeros(T* data, std::int64_t count) {
  if constexpr (std::is_same_v<Kokkos::DefaultExecutionSpace::memory_space, Kokkos::HostSpace>)
    if (computes()) std::fill_n(data, count, T());
}

template <class T>
void receive_zeros(T* data, strided const& block) {
  if (!computes()) return;
  loop_nest<1> const loops = loops_along(block);
  std::int64_t const elements = loops.size();
  loop_walker<1> at(loops, 0);
  for (std::int64_t i = 0; i < elements; ++i, at.next()) receive_zeros(data + at.offset[0], std::int64_t{1});
}

/// Point-to-point messages in flight. Long ones travel in chunks, which MPI keeps in order; empty ones do not travel.
class messages {
 public:
  messages() = default;
  messages(messages const&) = delete;
  messages& operator=(messages const&) = delete;
  ~messages() { wait(); }

  /// True if kernels see the data that have arrived without the host waiting.
  static constexpr bool in_order = false;
  using group = carrier::group;

  /// Accepts arrays in host memory, which need no setup.
  void on(host_arrays const&) {}
  [[nodiscard]] static host_arrays arrays() { return {}; }

  /// Begins the messages of a collective of these members, which begins now or has this tag, and counts them there.
  void begin(communicator const& members, counted_collective& counted) { begin(members, members.next_tag(), counted); }
  void begin(communicator const& members, int tag, counted_collective& counted) {
    counted_ = &counted;
    dry_ = members.is_dry();
    tag_ = tag;
    group_ = members.carried();
  }
  [[nodiscard]] int tag() const { return tag_; }

  template <class T>
  [[gnu::cold]] void receive(int from, T* data, std::int64_t count) {
    if (dry_) return receive_zeros(data, count);
    for (std::int64_t done = 0; done < count; done += chunk_limit)
      group_->receive(from, tag_, data + done, std::min(chunk_limit, count - done), begun_);
  }

  template <class T>
  [[gnu::cold]] void send(int to, T const* data, std::int64_t count) {
    count_sent(to, count * static_cast<std::int64_t>(sizeof(T)), (count + chunk_limit - 1) / chunk_limit);
    if (dry_) return;
    for (std::int64_t done = 0; done < count; done += chunk_limit)
      group_->send(to, tag_, data + done, std::min(chunk_limit, count - done), begun_);
  }

  /// Counts a message that another carries.
  void count_sent(int to, std::int64_t bytes, std::int64_t how_many) { counted_->add_sent(to, bytes, how_many); }

  /// Receives a block in place, as one message.
  template <class T>
  void receive(int from, T* data, strided const& block) {
    counted_->add_packed(bytes_of<T>(block));
    if (dry_) return receive_zeros(data, block);
    group_->receive(from, tag_, data, block, begun_);
  }

  template <class T>
  void send(int to, T const* data, strided const& block) {
    counted_->add_sent(to, bytes_of<T>(block));
    counted_->add_packed(bytes_of<T>(block));
    if (!dry_) group_->send(to, tag_, data, block, begun_);
  }

  /// Sends the messages posted since the last call. On the host they have left already.
  static void flush() {}

  /// A collective of the carrier gets the array itself; device_messages.hpp describes these functions.
  template <class T>
  [[nodiscard]] static T* array_for_carrier(T* data, std::int64_t) {
    return data;
  }
  template <class T>
  static void reads(T const*, T*, std::int64_t) {}
  template <class T>
  static void writes(T*, T const*, std::int64_t) {}
  static void ready() {}

  /// Waits until all messages have arrived.
  void wait() { begun_.wait(); }

  /// Lets the messages progress. True if all have arrived.
  bool test() { return begun_.test(); }

  /// Returns the requests, for a collective that the carrier does.
  [[nodiscard]] carrier::group::requests& begun() { return begun_; }

 private:
  template <class T>
  static std::int64_t bytes_of(strided const& block) {
    std::int64_t bytes = sizeof(T);
    for (int d = 0; d < block.rank; ++d) bytes *= block.extent[d];
    return bytes;
  }

  carrier::group const* group_ = nullptr;
  carrier::group::requests begun_;
  counted_collective* counted_ = nullptr;
  int tag_ = 0;
  bool dry_ = false;
};

}  // namespace detail
}  // namespace ostraka::engine
