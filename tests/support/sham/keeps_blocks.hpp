// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// For tests of blocks that are kept for later results. Others run on a device that never uses freed memory again.

#include <cstdlib>

namespace sham {

inline int const keeps_blocks = ::setenv("OSTRAKA_KEEP_FREED_MEMORY", "1", 1);

}  // namespace sham
