// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Sets of processes, as MPI's groups: the processes of a communicator, and their numbers in another.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <cstddef>

#  include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// Returns the number of ranks of a communicator.
inline int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Processes in an order, numbered from 0.
class mpi_processes {
 public:
  /// The processes of a communicator.
  explicit mpi_processes(MPI_Comm comm) { MPI_Comm_group(comm, &group_); }

  /// Some of `all`, by their numbers there.
  mpi_processes(mpi_processes const& all, dynamic_array<int> const& numbers) {
    MPI_Group_incl(all.group_, static_cast<int>(numbers.size()), numbers.data(), &group_);
  }
  mpi_processes(mpi_processes const&) = delete;
  mpi_processes& operator=(mpi_processes const&) = delete;
  ~mpi_processes() { MPI_Group_free(&group_); }

  [[nodiscard]] MPI_Group group() const { return group_; }
  [[nodiscard]] int size() const {
    int size = 0;
    MPI_Group_size(group_, &size);
    return size;
  }

  /// Returns for each process its number among `others`, −1 if it is not one of them.
  [[nodiscard, gnu::cold]] dynamic_array<int> numbers_in(mpi_processes const& others) const {
    int const n = size();
    dynamic_array<int> mine(static_cast<std::size_t>(n)), theirs(mine.size());
    for (int i = 0; i < n; ++i) mine[static_cast<std::size_t>(i)] = i;
    MPI_Group_translate_ranks(group_, n, mine.data(), others.group_, theirs.data());
    for (int& there : theirs)
      if (there == MPI_UNDEFINED) there = -1;
    return theirs;
  }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

}  // namespace ostraka::engine

#endif
