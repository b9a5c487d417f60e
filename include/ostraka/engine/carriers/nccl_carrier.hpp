// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. NCCL, or RCCL, which has the same calls, as the carrier of arrays in GPUs' memory. MPI carries arrays on
/// the host, and connects the processes of a group. NCCL launches messages on the stream of an execution space
/// instance: kernels launched before them write the data that is sent, kernels launched after them read the data that
/// arrives, and the host waits for neither. Each process of a group has a GPU of its own.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_NCCL

#  if !OSTRAKA_ENABLE_MPI
#    error "ostraka: NCCL needs MPI, by which processes find each other; set OSTRAKA_ENABLE_MPI=ON"
#  endif

#  include <Kokkos_Core.hpp>

#  include <cstddef>
#  include <cstdint>
#  include <cstdio>
#  include <cstdlib>
#  include <type_traits>

#  if defined(KOKKOS_ENABLE_HIP)
#    include <rccl/rccl.h>
#  else
#    include <nccl.h>
#  endif

#  include <ostraka/engine/carriers/mpi_carrier.hpp>
#  include <ostraka/engine/kernels/loops/stream.hpp>
#  include <ostraka/types/values/half.hpp>
#  include <ostraka/types/values/reduction.hpp>

namespace ostraka::engine {

namespace detail {

// An error on one device would leave the others waiting.
[[gnu::cold]] inline void require_nccl(ncclResult_t said, char const* call) {
  if (said == ncclSuccess) return;
  std::fprintf(stderr, "ostraka: %s: %s\n", call, ncclGetErrorString(said));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

template <HasStream Exec>
auto nccl_stream(Exec const& exec) {
  return stream_of(exec);
}

/// NCCL's type for elements that it reduces; ncclNumTypes for others.
template <class T>
constexpr ncclDataType_t nccl_type() {
  if constexpr (std::is_same_v<T, float>)
    return ncclFloat32;
  else if constexpr (std::is_same_v<T, double>)
    return ncclFloat64;
  else if constexpr (std::is_same_v<T, float16>)
    return ncclFloat16;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return ncclBfloat16;
  else if constexpr (std::is_same_v<T, bool> || !std::is_integral_v<T>)
    return ncclNumTypes;
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? ncclInt8 : ncclUint8;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? ncclInt32 : ncclUint32;
  else if constexpr (sizeof(T) == 8)
    return std::is_signed_v<T> ? ncclInt64 : ncclUint64;
  else
    return ncclNumTypes;
}

/// True if the user has asked for NCCL's own sums. Their order is NCCL's.
inline bool nccl_adds() {
  static bool const adds = [] {
    char const* const said = std::getenv("OSTRAKA_NCCL_ALL_REDUCE");
    return said != nullptr && *said == '1';
  }();
  return adds;
}

}  // namespace detail

/// A communicator of MPI, and one of NCCL, which is made when arrays in a GPU's memory are first sent.
class nccl_group : public mpi_group {
 public:
  using mpi_group::mpi_group;
  [[gnu::cold]] ~nccl_group() {
    if (nccl_ != nullptr && !mpi_has_ended()) ncclCommDestroy(nccl_);
  }

  using mpi_group::all_reduce;
  using mpi_group::broadcast;
  using mpi_group::receive;
  using mpi_group::send;

  /// Messages between begin_step and end_step leave together.
  void begin_step() const {
    connect();
    detail::require_nccl(ncclGroupStart(), "ncclGroupStart");
  }
  void end_step() const { detail::require_nccl(ncclGroupEnd(), "ncclGroupEnd"); }

  template <detail::HasStream Exec>
  void send(Exec const& exec, int to, void const* data, std::int64_t bytes) const {
    detail::require_nccl(ncclSend(data, size_of(bytes), ncclInt8, to, nccl_, detail::nccl_stream(exec)), "ncclSend");
  }
  template <detail::HasStream Exec>
  void receive(Exec const& exec, int from, void* data, std::int64_t bytes) const {
    detail::require_nccl(ncclRecv(data, size_of(bytes), ncclInt8, from, nccl_, detail::nccl_stream(exec)), "ncclRecv");
  }
  template <detail::HasStream Exec>
  void broadcast(Exec const& exec, void* data, std::int64_t bytes, int root) const {
    connect();
    detail::require_nccl(ncclBroadcast(data, data, size_of(bytes), ncclInt8, root, nccl_, detail::nccl_stream(exec)),
                         "ncclBroadcast");
  }

  /// True if NCCL reduces such elements itself, because the user has asked for it.
  template <class T>
  static bool reduces_in_order(reduction how) {
    return detail::nccl_adds() && detail::nccl_type<T>() != ncclNumTypes && operation_of(how) != ncclNumOps;
  }
  template <detail::HasStream Exec, class T>
  void all_reduce(Exec const& exec, T* data, std::int64_t count, reduction how) const {
    connect();
    detail::require_nccl(ncclAllReduce(data, data, size_of(count), detail::nccl_type<T>(), operation_of(how), nccl_,
                                       detail::nccl_stream(exec)),
                         "ncclAllReduce");
  }

 private:
  static std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

  static ncclRedOp_t operation_of(reduction how) {
    switch (how) {
      case reduction::sum:
        return ncclSum;
      case reduction::prod:
        return ncclProd;
      case reduction::max:
        return ncclMax;
      case reduction::min:
        return ncclMin;
      default:
        return ncclNumOps;  // it has no bitwise operations
    }
  }

  [[gnu::cold]] void make() const {
    ncclUniqueId id{};
    if (rank() == 0) detail::require_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, native());
    detail::require_nccl(ncclCommInitRank(&nccl_, size(), id, rank()), "ncclCommInitRank");
  }
  void connect() const {
    if (nccl_ == nullptr) make();
  }

  mutable ncclComm_t nccl_ = nullptr;
};

struct nccl_carrier {
  using processes = mpi_processes;
  using group = nccl_group;

  template <class T>
  static constexpr bool reduces(reduction how) {
    return mpi_carrier::reduces<T>(how);
  }

  static char const* name() {
#  if defined(KOKKOS_ENABLE_HIP)
    return "RCCL";
#  else
    return "NCCL";
#  endif
  }
};

}  // namespace ostraka::engine

#endif
