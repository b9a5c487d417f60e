// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Keeps ranks from comparing their calls. Include it in tests that count a program's work: a comparison sends
/// messages, allocates text and reads blocks on the host, and dry meshes have none. It takes effect before MPI is
/// initialised.

#include <cstdlib>

namespace ostraka::testing {

inline int const compares_nothing = ::setenv("OSTRAKA_CHECK_SPMD", "0", 1);

}  // namespace ostraka::testing
