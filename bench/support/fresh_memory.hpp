// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Memory as a program's first arrays have it, for measurements in different programs that are to be compared. malloc
/// keeps what was freed, more and more of it, so that an array which comes later lies in the large pages of an earlier
/// one; a message of 4 MiB from there takes 0.6 of the time.

#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace bench {

/// From now on each array of 128 KiB and more comes from the system and goes back to it.
inline void take_fresh_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
}

}  // namespace bench
