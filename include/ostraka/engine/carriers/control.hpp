// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Messages between ranks about the program's calls, and about how ranks end, apart from the program's own
/// messages. They always use MPI, whatever carries the program's messages, since some of them find out whether a rank
/// is in a call of MPI. They call MPI by its profiling names, so that tools count only the program's messages.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <cstddef>
#  include <cstdint>
#  include <string>

namespace ostraka::engine::control {

inline constexpr int any_member = MPI_ANY_SOURCE;

/// Returns a communicator of the same ranks for these messages alone, on which errors are not fatal. Collective.
[[gnu::cold]] inline native_communicator open(native_communicator ranks) {
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_dup(ranks, &made);
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}
[[gnu::cold]] inline void close(native_communicator& channel) {
  if (channel != MPI_COMM_NULL) PMPI_Comm_free(&channel);
}

/// The request of an MPI call in flight, or of none.
class request {
 public:
  [[nodiscard]] bool is_open() const { return open_ != MPI_REQUEST_NULL; }

  /// Lets the call progress. True if it is done, or was never begun.
  bool test() {
    int done = 0;
    PMPI_Test(&open_, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }
  void wait() { PMPI_Wait(&open_, MPI_STATUS_IGNORE); }

  /// Abandons a message without waiting for it. Its memory must stay valid until MPI ends.
  void leave() {
    if (is_open()) PMPI_Request_free(&open_);
  }

  /// Cancels a receive.
  void cancel() {
    if (!is_open()) return;
    PMPI_Cancel(&open_);
    wait();
  }

  /// Returns the MPI request to begin a call with.
  [[nodiscard]] MPI_Request* begins() { return &open_; }

 private:
  MPI_Request open_ = MPI_REQUEST_NULL;
};

/// When a send is done: soon, or once the receiver has begun to receive, which it does only inside a call of MPI.
enum class send_ends : std::uint8_t { soon, received };

inline void send(native_communicator ranks, int to, int tag, void const* data, std::size_t bytes, request& with,
                 send_ends when = send_ends::soon) {
  (when == send_ends::soon ? &PMPI_Isend : &PMPI_Issend)(data, static_cast<int>(bytes), MPI_BYTE, to, tag, ranks,
                                                         with.begins());
}
inline void receive(native_communicator ranks, int from, int tag, void* data, std::size_t bytes, request& with) {
  PMPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, ranks, with.begins());
}

/// True if a message has arrived; `from`, which may be any_member, becomes its sender.
inline bool find(native_communicator ranks, int& from, int tag) {
  int there = 0;
  MPI_Status status;
  PMPI_Iprobe(from, tag, ranks, &there, &status);
  if (there != 0) from = status.MPI_SOURCE;
  return there != 0;
}

/// Waits for a message of any length and returns it.
[[gnu::cold]] inline std::string receive_text(native_communicator ranks, int from, int tag) {
  MPI_Status status;
  int length = 0;
  PMPI_Probe(from, tag, ranks, &status);
  PMPI_Get_count(&status, MPI_BYTE, &length);
  std::string bytes(static_cast<std::size_t>(length), '\0');
  PMPI_Recv(bytes.data(), length, MPI_BYTE, from, tag, ranks, MPI_STATUS_IGNORE);
  return bytes;
}

[[gnu::cold]] inline void broadcast(native_communicator ranks, void* data, std::size_t bytes, int root) {
  PMPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, root, ranks);
}

/// The request is done when all ranks have begun it.
[[gnu::cold]] inline void barrier(native_communicator ranks, request& with) { PMPI_Ibarrier(ranks, with.begins()); }

}  // namespace ostraka::engine::control

#endif
