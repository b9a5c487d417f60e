// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Sets of processes, as MPI's groups: whom a communicator has, and which number each has in another.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <cstddef>

#  include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// How many ranks a communicator has.
inline int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Processes in an order, numbered from 0.
class mpi_processes {
 public:
  /// Those of a communicator.
  explicit mpi_processes(MPI_Comm comm) { MPI_Comm_group(comm, &group_); }

  /// Those of these numbers among others.
  mpi_processes(mpi_processes const& all, dynamic_array<int> const& numbers) {
    MPI_Group_incl(all.group_, static_cast<int>(numbers.size()), numbers.data(), &group_);
  }
  mpi_processes(mpi_processes const&) = delete;
  mpi_processes& operator=(mpi_processes const&) = delete;
  ~mpi_processes() { MPI_Group_free(&group_); }

  [[nodiscard]] MPI_Group group() const { return group_; }

  /// Of each, its number among others; -1 for those that are not there.
  [[nodiscard, gnu::cold]] dynamic_array<int> numbers_in(mpi_processes const& others) const {
    int size = 0;
    MPI_Group_size(group_, &size);
    dynamic_array<int> mine(static_cast<std::size_t>(size)), theirs(mine.size());
    for (int i = 0; i < size; ++i) mine[static_cast<std::size_t>(i)] = i;
    MPI_Group_translate_ranks(group_, size, mine.data(), others.group_, theirs.data());
    for (int& n : theirs) n = n == MPI_UNDEFINED ? -1 : n;
    return theirs;
  }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

namespace detail {

// A member's number in MPI_COMM_WORLD.
inline int number_in_world(MPI_Comm comm, int member) {
  int name = member;
  MPI_Group_translate_ranks(mpi_processes(comm).group(), 1, &member, mpi_processes(MPI_COMM_WORLD).group(), &name);
  return name;
}

}  // namespace detail

}  // namespace ostraka::engine

#endif
