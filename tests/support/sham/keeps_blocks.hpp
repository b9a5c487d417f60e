// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Include this in tests of blocks that are kept for later results. Other tests free each block on the sham device.

#include <cstdlib>

namespace sham {

inline int const keeps_blocks = ::setenv("OSTRAKA_KEEP_FREED_MEMORY", "1", 1);

}  // namespace sham
