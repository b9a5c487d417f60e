// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Prints one sentence if the compiler is too old, or does not compile C++20. The headers that programs name
/// include this file first. Compilers continue after #error but stop at an include of a missing file. So an include of
/// a missing file follows each #error, and nothing else is printed.

#if (defined(__clang__) && !defined(__apple_build_version__) && __clang_major__ < 16) || \
    (defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12)
#  error "ostraka: the compiler is g++ 12 or clang 16, or a later one; install one (CMake: CMAKE_CXX_COMPILER)"
#  include <ostraka_stops_here>
#elif __cplusplus < 202002L
#  error "ostraka: the language is C++20 or later; compile with -std=c++20 (CMake: its targets ask for it)"
#  include <ostraka_stops_here>
#endif
