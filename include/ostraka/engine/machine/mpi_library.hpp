// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. MPI's description of itself: its library, and the host threads that it serves.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <cstddef>
#  include <string>

namespace ostraka::engine {

/// Returns "Open MPI v4.1.4, package: …", or "MPICH Version:\t4.0.2\n…".
[[nodiscard, gnu::cold]] inline std::string mpi_library_version() {
  std::string version(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  version.resize(static_cast<std::size_t>(length));
  return version;
}

/// Returns the thread level, `serialized` for instance. @pre MPI runs
[[nodiscard, gnu::cold]] inline char const* mpi_thread_level() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE     ? "multiple"
         : level == MPI_THREAD_SERIALIZED ? "serialized"
         : level == MPI_THREAD_FUNNELED   ? "funneled"
                                          : "single";
}

}  // namespace ostraka::engine

#endif
