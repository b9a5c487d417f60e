// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Is check mode wanted, in which ranks compare operations before they communicate? OSTRAKA_CHECK_SPMD=1 or 0
/// says so; else it is on unless the program was built with NDEBUG.

#include <cstdlib>
#include <cstring>

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

inline bool wants_call_checks() {
  if (char const* const said = std::getenv("OSTRAKA_CHECK_SPMD"); said && *said) return std::strcmp(said, "0") != 0;
  return is_debug_build;
}

}  // namespace ostraka::engine
