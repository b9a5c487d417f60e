// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// For tests that count a device's work: ranks do not compare their calls, for which they would read blocks on the
/// host.

#include <cstdlib>

namespace sham {

inline int const compares_nothing = ::setenv("OSTRAKA_CHECK_SPMD", "0", 1);

}  // namespace sham
