// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What the collectives share: the MPI type of an element, the limit that keeps counts inside MPI's int, and
/// messages longer than it. In a dry group messages are counted, and zeros arrive.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/groups/counted_collective.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

/// Elements that one MPI call carries at most. Counts of MPI before version 4 are int; tests lower this to walk the
/// chunked paths with small arrays.
[[gnu::visibility("default")]] inline std::int64_t chunk_limit = std::int64_t(1) << 30;

/// How MPI is called for a collective that is begun: by a call that returns when all is done, which is the fastest
/// where nothing else is done meanwhile, or by one that returns at once.
enum class mpi_calls : std::uint8_t { blocking, nonblocking };

/// In the place of a tag: the collective begins now, and takes one of its own.
inline constexpr int new_tag = -1;

/// The tag of a collective that begins now, or is a part of one that has this tag.
inline int tag_of_collective(communicator const& members, int tag) {
  if (tag != new_tag) return tag;
  members.enter();
  return members.next_tag();
}

namespace detail {

/// Where each member's part begins in a buffer that holds the parts in member order; one more entry for the end.
inline short_array<std::int64_t> offsets_of(counts_view const& counts) {
  std::int64_t next = 0;
  return {counts.size() + 1, [&](std::size_t d) {
            std::int64_t const begin = next;
            next += d < counts.size() ? counts[d] : 0;
            return begin;
          }};
}

/// A part of a collective that stays here; a narrow element may become a wider one.
template <class From, class To>
void copy_part(From const* from, std::int64_t count, To* to) {
  if (computes()) std::copy_n(from, count, to);
}

/// What arrives in a dry group: zeros, which are good as numbers and as indices. What a device without the host's
/// memory has stays as it is.
template <class T>
void receive_zeros(T* data, std::int64_t count) {
  if constexpr (std::is_same_v<Kokkos::DefaultExecutionSpace::memory_space, Kokkos::HostSpace>)
    if (computes()) std::fill_n(data, count, T());
}

template <class T>
void receive_zeros(T* data, strided const& block) {
  if (!computes()) return;
  loop_nest<1> loops;
  for (int d = 0; d < block.rank; ++d) loops.add(block.extent[d], block.stride[d]);
  std::int64_t const elements = loops.size();
  loop_walker<1> at(loops, 0);
  for (std::int64_t i = 0; i < elements; ++i, at.next()) receive_zeros(data + at.offset[0], std::int64_t{1});
}

#if OSTRAKA_ENABLE_MPI

template <class T>
MPI_Datatype message_type();
template <>
inline MPI_Datatype message_type<float>() { return MPI_FLOAT; }
template <>
inline MPI_Datatype message_type<double>() { return MPI_DOUBLE; }
template <>
inline MPI_Datatype message_type<Kokkos::complex<float>>() { return MPI_C_FLOAT_COMPLEX; }
template <>
inline MPI_Datatype message_type<Kokkos::complex<double>>() { return MPI_C_DOUBLE_COMPLEX; }
template <>
inline MPI_Datatype message_type<std::int8_t>() { return MPI_INT8_T; }
template <>
inline MPI_Datatype message_type<std::int16_t>() { return MPI_INT16_T; }
template <>
inline MPI_Datatype message_type<std::int32_t>() { return MPI_INT32_T; }
template <>
inline MPI_Datatype message_type<std::int64_t>() { return MPI_INT64_T; }
// As a byte, 0 or 1: MPI's own bool knows no maximum, and an MPI without C++ none of it.
static_assert(sizeof(bool) == 1);
template <>
inline MPI_Datatype message_type<bool>() { return MPI_UINT8_T; }
// MPI knows no numbers of 16 bits with a fraction: they travel as patterns, and MPI reduces none of them.
template <>
inline MPI_Datatype message_type<float16>() { return MPI_UINT16_T; }
template <>
inline MPI_Datatype message_type<bfloat16>() { return MPI_UINT16_T; }

/// Counts as MPI wants them; the caller has checked that their sum is within chunk_limit.
inline short_array<int> to_int(counts_view const& values) {
  return {values.size(), [&](std::size_t d) { return static_cast<int>(values[d]); }};
}

#endif

/// Point-to-point messages under way. Long ones travel in chunks, which MPI keeps in order; empty ones do not travel.
class messages {
 public:
  messages() = default;
  messages(messages const&) = delete;
  messages& operator=(messages const&) = delete;
  ~messages() { wait(); }

  /// Those from here on are of a collective of these members that begins now, or has this tag, and are counted there.
  void begin(communicator const& members, counted_collective& counted) { begin(members, members.next_tag(), counted); }
  void begin(communicator const& members, int tag, counted_collective& counted) {
    counted_ = &counted;
    dry_ = members.is_dry();
    tag_ = tag;
#if OSTRAKA_ENABLE_MPI
    comm_ = members.native();
    types_ = members.types();
#endif
  }
  [[nodiscard]] int tag() const { return tag_; }

  template <class T>
  [[gnu::cold]] void receive([[maybe_unused]] int from, T* data, std::int64_t count) {
    if (dry_) return receive_zeros(data, count);
#if OSTRAKA_ENABLE_MPI
    for (std::int64_t done = 0; done < count; done += chunk_limit)
      MPI_Irecv(data + done, static_cast<int>(std::min(chunk_limit, count - done)), message_type<T>(), from, tag_,
                comm_, next());
#endif
  }

  template <class T>
  [[gnu::cold]] void send(int to, [[maybe_unused]] T const* data, std::int64_t count) {
    counted_->add_sent(to, count * static_cast<std::int64_t>(sizeof(T)), (count + chunk_limit - 1) / chunk_limit);
#if OSTRAKA_ENABLE_MPI
    if (dry_) return;
    for (std::int64_t done = 0; done < count; done += chunk_limit)
      MPI_Isend(data + done, static_cast<int>(std::min(chunk_limit, count - done)), message_type<T>(), to, tag_, comm_,
                next());
#endif
  }

  /// A block where it lies, as one message.
  template <class T>
  void receive([[maybe_unused]] int from, T* data, strided const& block) {
    counted_->add_packed(bytes_of<T>(block));
    if (dry_) return receive_zeros(data, block);
#if OSTRAKA_ENABLE_MPI
    MPI_Irecv(data, 1, type_of<T>(block), from, tag_, comm_, next());
#endif
  }

  template <class T>
  void send(int to, [[maybe_unused]] T const* data, strided const& block) {
    counted_->add_sent(to, bytes_of<T>(block));
    counted_->add_packed(bytes_of<T>(block));
#if OSTRAKA_ENABLE_MPI
    if (dry_) return;
    MPI_Isend(data, 1, type_of<T>(block), to, tag_, comm_, next());
#endif
  }

#if OSTRAKA_ENABLE_MPI
  /// Waits until all of them have arrived.
  void wait() {
    if (!requests_.empty()) MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

  /// Lets them go on; have all of them arrived?
  bool test() {
    if (requests_.empty()) return true;
    int arrived = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &arrived, MPI_STATUSES_IGNORE);
    if (arrived != 0) requests_.clear();
    return arrived != 0;
  }

  /// The request of another that is begun with them.
  MPI_Request* next() { return &requests_.push_back(MPI_REQUEST_NULL); }

 private:
  template <class T>
  MPI_Datatype type_of(strided const& block) {
    return types_->of(block, message_type<T>(), MPI_Aint{sizeof(T)});
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  block_types* types_ = nullptr;
  short_array<MPI_Request, 64> requests_;
#else
  void wait() {}
  bool test() { return true; }

 private:
#endif
  template <class T>
  static std::int64_t bytes_of(strided const& block) {
    std::int64_t bytes = sizeof(T);
    for (int d = 0; d < block.rank; ++d) bytes *= block.extent[d];
    return bytes;
  }

  counted_collective* counted_ = nullptr;
  int tag_ = 0;
  bool dry_ = false;
};

/// A collective that is begun as messages and done when all of them have arrived.
struct counted_messages {
  counted_collective counted;
  messages pending;  // ends first, and waits there

  void begin(communicator const& members, collective how) {
    members.enter();
    counted.begin(members, how);
    pending.begin(members, counted);
  }
  bool test() { return pending.test(); }
  void finish() {
    counted.wait();
    pending.wait();
    counted.end();
  }
};

}  // namespace detail
}  // namespace ostraka::engine
