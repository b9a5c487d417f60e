// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The job of this process under MPI: its beginning and end, and the process's rank in it. Without MPI, a job
/// is one running process.

#include <cstddef>
#include <cstdlib>
#include <string>

#include <ostraka/engine/machine/mpi.hpp>

namespace ostraka::engine {

/// True once MPI has ended. After that, no MPI object can be freed.
[[nodiscard]] inline bool mpi_has_ended() {
  int ended = 0;
#if OSTRAKA_ENABLE_MPI
  MPI_Finalized(&ended);
#endif
  return ended != 0;
}

/// True once MPI has begun; it may have ended since.
[[nodiscard]] inline bool mpi_has_begun() {
  int begun = 1;
#if OSTRAKA_ENABLE_MPI
  MPI_Initialized(&begun);
#endif
  return begun != 0;
}

[[nodiscard]] inline bool mpi_runs() { return mpi_has_begun() && !mpi_has_ended(); }

/// Begins MPI, either for host threads that take turns, or for several at the same time, which not every MPI supports.
[[gnu::cold]] inline void begin_mpi([[maybe_unused]] int& argc, [[maybe_unused]] char**& argv,
                                    [[maybe_unused]] bool several_threads) {
#if OSTRAKA_ENABLE_MPI
  int given = 0;
  MPI_Init_thread(&argc, &argv, several_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &given);
#endif
}

[[gnu::cold]] inline void end_mpi() {
#if OSTRAKA_ENABLE_MPI
  MPI_Finalize();
#endif
}

/// The rank of this process in the job and the number of ranks, as launchers count them.
struct place_in_job {
  int rank = 0;
  int ranks = 1;
};

/// @pre MPI runs
[[nodiscard, gnu::cold]] inline place_in_job find_place_in_job() {
  place_in_job here;
#if OSTRAKA_ENABLE_MPI
  MPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &here.ranks);
#endif
  return here;
}

/// Returns the machine's name, if MPI knows one.
[[nodiscard, gnu::cold]] inline std::string name_of_host() {
  std::string name;
#if OSTRAKA_ENABLE_MPI
  int length = 0;
  name.resize(MPI_MAX_PROCESSOR_NAME);
  MPI_Get_processor_name(name.data(), &length);
  name.resize(static_cast<std::size_t>(length));
#endif
  return name;
}

/// Calls f before MPI ends, whether we or the program end it: MPI deletes the attributes of MPI_COMM_SELF first.
[[gnu::cold]] inline void call_at_end_of_mpi([[maybe_unused]] void (*f)()) {
#if OSTRAKA_ENABLE_MPI
  auto const call = [](MPI_Comm, int, void* what, void*) {
    reinterpret_cast<void (*)()>(what)();
    return MPI_SUCCESS;
  };
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, reinterpret_cast<void*>(f));
  MPI_Comm_free_keyval(&key);
#endif
}

/// Ends all ranks of the job. @pre MPI runs, and this is its thread
[[noreturn, gnu::cold]] inline void abort_job() {
#if OSTRAKA_ENABLE_MPI
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
#endif
  std::abort();
}

}  // namespace ostraka::engine
