// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. In check mode: how a rank answers, while it is in any call of MPI, that it is there. A header cannot stand
/// between a program and MPI. But a synchronous message to a receive that was posted beforehand is complete once the
/// receiver is in a call of MPI, and not while it computes or sleeps. So every rank keeps receives posted, and those
/// who wait for it send such messages (presence_questions.hpp).

#include <cstddef>
#include <cstdlib>

#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

#if OSTRAKA_ENABLE_MPI

namespace ostraka::engine::detail {

/// How long all have to have been in MPI: OSTRAKA_CHECK_PATIENCE, in seconds, or 5.
inline double patience() {
  char const* const said = std::getenv("OSTRAKA_CHECK_PATIENCE");
  double const seconds = said ? std::atof(said) : 0;
  return seconds > 0 ? seconds : 5;
}

/// The receives that answer for this rank, on a communicator of their own. Those that are used up are posted again,
/// once a second at most, when it compares what it calls, and while it waits for what others call.
class presence_answers {
 public:
  void begin(MPI_Comm ranks) {
    PMPI_Comm_dup(ranks, &comm_);
    requests_.assign(most, MPI_REQUEST_NULL);
    post();
  }
  void post() {
    if (requests_.empty() || MPI_Wtime() < next_) return;
    next_ = MPI_Wtime() + 1;
    for (MPI_Request& r : requests_) {
      int used = r == MPI_REQUEST_NULL;
      if (!used) PMPI_Test(&r, &used, MPI_STATUS_IGNORE);
      if (used) PMPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, 0, comm_, &r);
    }
  }
  void end() {
    if (requests_.empty()) return;
    for (MPI_Request& r : requests_) {
      if (r == MPI_REQUEST_NULL) continue;
      PMPI_Cancel(&r);
      PMPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    requests_.clear();
    PMPI_Comm_free(&comm_);
  }

  MPI_Comm comm() const { return comm_; }

 private:
  static constexpr std::size_t most = 64;  // for three who ask all, one after another
  MPI_Comm comm_ = MPI_COMM_NULL;
  double next_ = 0;
  dynamic_array<MPI_Request> requests_;
};

}  // namespace ostraka::engine::detail

#endif
