// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Freed memory of the host stays with the process. Operations allocate their results, megabytes that a
/// program frees some operations later; the C library would give them back to the system each time, and writing to
/// fresh pages takes as long as computing what is written there: a quarter of a training step.

#include <climits>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace ostraka::engine {

/// Is it wanted? Not where the program's user has told the C library, or us, otherwise.
inline bool wants_freed_memory() {
  if (char const* const said = std::getenv("OSTRAKA_KEEP_FREED_MEMORY"); said && *said)
    return std::strcmp(said, "0") != 0;
  for (char const* name : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_"})
    if (std::getenv(name) != nullptr) return false;
  char const* const tunables = std::getenv("GLIBC_TUNABLES");
  return tunables == nullptr || std::strstr(tunables, "glibc.malloc.") == nullptr;
}

/// Tells the C library, where it is glibc. Blocks up to 32 MB, the largest for which it can be told, are reused; larger
/// ones go back, so that what lies idle is bounded.
inline void keep_freed_memory() {
#if defined(__GLIBC__)
  if (!wants_freed_memory()) return;
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

}  // namespace ostraka::engine
