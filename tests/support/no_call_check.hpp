// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// For tests that count what a program does: ranks do not compare their calls, for which they would send more, allocate
/// words and read blocks on the host, and which have no part on dry meshes. It is set before MPI begins.

#include <cstdlib>

namespace ostraka::testing {

inline int const compares_nothing = ::setenv("OSTRAKA_CHECK_SPMD", "0", 1);

}  // namespace ostraka::testing
