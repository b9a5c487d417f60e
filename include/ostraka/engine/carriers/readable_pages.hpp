// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A page of memory of each rank that other ranks read without its help, even while it is blocked in MPI: an
/// MPI window.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <cstddef>

namespace ostraka::engine {

class readable_pages {
 public:
  /// Returns memory for this rank's page, or null where MPI has no windows. Collective; errors of the communicator are
  /// fatal afterwards.
  [[nodiscard]] void* open(native_communicator ranks, std::size_t bytes) {
    MPI_Comm_set_errhandler(ranks, MPI_ERRORS_RETURN);
    void* memory = nullptr;
    if (MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, ranks, &memory, &window_) != MPI_SUCCESS)
      window_ = MPI_WIN_NULL;
    MPI_Comm_set_errhandler(ranks, MPI_ERRORS_ARE_FATAL);
    return is_open() ? memory : nullptr;
  }

  /// Makes data written to the page visible to other ranks. @pre is_open
  void begin() {
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    MPI_Win_sync(window_);
  }

  /// Ends all reading. Collective.
  void close() {
    if (!is_open()) return;
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

  [[nodiscard]] bool is_open() const { return window_ != MPI_WIN_NULL; }

  /// Reads `bytes` of a rank's page from byte `at` on. @pre is_open
  void read(int rank, void* to, std::size_t bytes, std::size_t at) const {
    MPI_Get(to, static_cast<int>(bytes), MPI_BYTE, rank, static_cast<MPI_Aint>(at), static_cast<int>(bytes), MPI_BYTE,
            window_);
    MPI_Win_flush(rank, window_);
  }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace ostraka::engine

#endif
