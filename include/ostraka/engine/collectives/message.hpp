// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What the collectives share: the MPI types of an element and of a strided block, the limit that keeps counts
/// inside MPI's int, and messages longer than it.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <ostraka/engine/collectives/communicator.hpp>
#include <ostraka/engine/kernels/strided.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/types/half.hpp>

namespace ostraka::engine {

/// Elements that one MPI call carries at most. Counts of MPI before version 4 are int; tests lower this to walk the
/// chunked paths with small arrays.
inline std::int64_t chunk_limit = std::int64_t(1) << 30;

/// How MPI is called for a collective that is begun: by a call that returns when all is done, which is the fastest
/// where nothing else is done meanwhile, or by one that returns at once.
enum class mpi_calls : std::uint8_t { blocking, nonblocking };

namespace detail {

/// Where each member's part begins in a buffer that holds the parts in member order; one more entry for the end.
inline short_array<std::int64_t> offsets_of(counts_view counts) {
  std::int64_t next = 0;
  return {counts.size() + 1, [&](std::size_t d) {
            std::int64_t const begin = next;
            next += d < counts.size() ? counts[d] : 0;
            return begin;
          }};
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
inline short_array<int> to_int(counts_view values) {
  return {values.size(), [&](std::size_t d) { return static_cast<int>(values[d]); }};
}

/// The type of a block whose elements travel in the order of its dimensions. Committed; whoever uses it frees it. @pre
/// no extent is 0
template <class T>
MPI_Datatype type_of_block(strided const& block) {
  loop_nest<1> loops;
  for (int d = 0; d < block.rank; ++d) loops.add(block.extent[d], block.stride[d]);
  loops.merge();
  MPI_Datatype type;
  MPI_Type_contiguous(1, message_type<T>(), &type);
  for (int d = loops.rank - 1; d >= 0; --d) {
    MPI_Datatype inner = type;
    MPI_Type_create_hvector(static_cast<int>(loops.extent[d]), 1,
                            static_cast<MPI_Aint>(loops.stride[0][d]) * static_cast<MPI_Aint>(sizeof(T)), inner, &type);
    MPI_Type_free(&inner);
  }
  MPI_Type_commit(&type);
  return type;
}

/// Point-to-point messages under way. Long ones travel in chunks, which MPI keeps in order; empty ones do not travel.
class messages {
 public:
  messages() = default;
  explicit messages(communicator const& members) { begin(members); }
  messages(messages const&) = delete;
  messages& operator=(messages const&) = delete;
  ~messages() { wait(); }

  /// Those from here on are of a collective of these members that begins now, or has this tag.
  void begin(communicator const& members) { begin(members, members.next_tag()); }
  void begin(communicator const& members, int tag) {
    comm_ = members.native();
    tag_ = tag;
  }
  [[nodiscard]] int tag() const { return tag_; }

  template <class T>
  void receive(int from, T* data, std::int64_t count) {
    for (std::int64_t done = 0; done < count; done += chunk_limit)
      MPI_Irecv(data + done, static_cast<int>(std::min(chunk_limit, count - done)), message_type<T>(), from, tag_,
                comm_, next());
  }

  template <class T>
  void send(int to, T const* data, std::int64_t count) {
    for (std::int64_t done = 0; done < count; done += chunk_limit)
      MPI_Isend(data + done, static_cast<int>(std::min(chunk_limit, count - done)), message_type<T>(), to, tag_, comm_,
                next());
  }

  /// A block where it lies, as one message.
  template <class T>
  void receive(int from, T* data, strided const& block) {
    MPI_Datatype type = type_of_block<T>(block);
    MPI_Irecv(data, 1, type, from, tag_, comm_, next());
    MPI_Type_free(&type);  // once the message has arrived
  }

  template <class T>
  void send(int to, T const* data, strided const& block) {
    MPI_Datatype type = type_of_block<T>(block);
    MPI_Isend(data, 1, type, to, tag_, comm_, next());
    MPI_Type_free(&type);
  }

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
  MPI_Comm comm_ = MPI_COMM_NULL;
  int tag_ = 0;
  short_array<MPI_Request, 64> requests_;
};

#endif

}  // namespace detail
}  // namespace ostraka::engine
