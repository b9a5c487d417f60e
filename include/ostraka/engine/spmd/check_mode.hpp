// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Selects the calls that ranks compare before they communicate. OSTRAKA_CHECK_SPMD=1 compares all (check
/// mode), `first` the first run of each, 0 none. If the variable is not set, a program built without NDEBUG compares
/// all, and any other program first runs.

#include <cstdlib>
#include <cstring>

#include <ostraka/engine/groups/group_observer.hpp>

namespace ostraka::engine {

/// True if the program was built without NDEBUG.
[[gnu::visibility("default")]] inline bool is_debug_build = false;

/// Sets is_debug_build. Only code that is compiled with the program may call it, since the compiled library may be
/// built with NDEBUG.
inline void set_debug_build() {
#ifndef NDEBUG
  is_debug_build = true;
#endif
}

inline compared_calls calls_to_compare() {
  if (char const* const setting = std::getenv("OSTRAKA_CHECK_SPMD"); setting && *setting)
    return std::strcmp(setting, "0") == 0       ? compared_calls::none
           : std::strcmp(setting, "first") == 0 ? compared_calls::first_runs
                                                : compared_calls::all;
  return is_debug_build ? compared_calls::all : compared_calls::first_runs;
}

}  // namespace ostraka::engine
