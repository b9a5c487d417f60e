// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Which calls shall ranks compare before they communicate? With OSTRAKA_CHECK_SPMD=1 all (check mode), with 0
/// none. Unless that is said, all in a program that was built without NDEBUG, else the first run of each.

#include <cstdlib>
#include <cstring>

#include <ostraka/engine/groups/group_observer.hpp>

namespace ostraka::engine {

/// Was the program built without NDEBUG?
[[gnu::visibility("default")]] inline bool is_debug_build = false;

/// Says so. Only code that is compiled with the program may call it: a library of the engine may have been built
/// otherwise.
inline void tell_build() {
#ifndef NDEBUG
  is_debug_build = true;
#endif
}

inline compared_calls calls_to_compare() {
  if (char const* const said = std::getenv("OSTRAKA_CHECK_SPMD"); said && *said)
    return std::strcmp(said, "0") == 0 ? compared_calls::none : compared_calls::all;
  return is_debug_build ? compared_calls::all : compared_calls::first_runs;
}

}  // namespace ostraka::engine
