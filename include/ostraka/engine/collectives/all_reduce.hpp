// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-reduce: the members' arrays are reduced and all keep the whole. A[I]{U_X} -> A[I].

#include <type_traits>

#include <ostraka/engine/collectives/all_gather.hpp>
#include <ostraka/engine/collectives/reduce_scatter.hpp>

namespace ostraka::engine {

#if OSTRAKA_ENABLE_MPI

namespace detail {

inline MPI_Op operation_of(reduction how) {
  switch (how) {
    case reduction::sum: return MPI_SUM;
    case reduction::max: return MPI_MAX;
    case reduction::min: return MPI_MIN;
    case reduction::prod: return MPI_PROD;
    case reduction::bit_and: return MPI_BAND;
    case reduction::bit_or: return MPI_BOR;
  }
  return MPI_OP_NULL;
}

}  // namespace detail

#endif

/// Does MPI reduce such elements, to the same bits on all members? Its maximum of numbers that compare equal or not at
/// all (-0 and 0, NaN) may be another on every device; a sum or product of two is the same both ways round, so that the
/// trees of all devices agree. (Not so a complex product, where a compiler fuses multiplication and addition.) It has no
/// operations for numbers of 16 bits.
template <class T>
constexpr bool reduced_by_mpi(reduction how) {
  bool const any_tree_agrees =
      how == reduction::sum || (how == reduction::prod && std::is_arithmetic_v<T>) || std::is_integral_v<T>;
  return any_tree_agrees && !is_narrow<T>;
}

/// Elements of the largest part that a member reduces for all.
inline std::int64_t share_of_all_reduce(communicator const& members, std::int64_t count) {
  return (count + members.size() - 1) / members.size();
}

/// data becomes the reduction over all members, the same bits on each of them. Set aside are `share` with room for
/// share_of_all_reduce, and `pieces` with room for what a reduce-scatter of such a part sets aside; neither, if MPI
/// reduces the elements.
template <class T>
void all_reduce(communicator const& members, [[maybe_unused]] T* data, std::int64_t count, reduction how,
                [[maybe_unused]] T* share, [[maybe_unused]] T* pieces) {
  require_reducible<T>(how);
  if (members.size() == 1 || count == 0) return;
  members.enter();
#if OSTRAKA_ENABLE_MPI
  if (reduced_by_mpi<T>(how)) {
    MPI_Op const operation = detail::operation_of(how);
    for (std::int64_t done = 0; done < count; done += chunk_limit)
      MPI_Allreduce(MPI_IN_PLACE, data + done, static_cast<int>(std::min(chunk_limit, count - done)),
                    detail::message_type<T>(), operation, members.native());
    return;
  }
  // The same bytes: what a reduce-scatter and an all-gather move.
  std::int64_t const n = members.size();
  short_array<std::int64_t> const counts(static_cast<std::size_t>(n), [&](std::size_t member) {
    std::int64_t const d = static_cast<std::int64_t>(member);
    return (d + 1) * count / n - d * count / n;
  });
  reduce_scatter_in_flight<T> scatter;
  scatter.begin(members, data, share, counts, pieces, how);
  scatter.finish();
  all_gather(members, static_cast<T const*>(share), data, counts);
#endif
}

/// The same with memory of its own.
template <class T>
void all_reduce(communicator const& members, T* data, std::int64_t count, reduction how) {
  std::int64_t const part = reduced_by_mpi<T>(how) || members.size() == 1 ? 0 : share_of_all_reduce(members, count);
  scratch<T, Kokkos::HostSpace> const share(part);
  scratch<T, Kokkos::HostSpace> const pieces(reduce_scatter_in_flight<T>::pieces_of(members, part));
  all_reduce(members, data, count, how, share.data(), pieces.data());
}

}  // namespace ostraka::engine
