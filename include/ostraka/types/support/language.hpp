// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. One sentence where the compiler, or the language that it compiles, is older than C++20 needs. The headers
/// that programs name include this file first. No compiler stops at #error, so the include after it names a file that
/// does not exist. Compilers stop there and print nothing else.

#if (defined(__clang__) && !defined(__apple_build_version__) && __clang_major__ < 16) || \
    (defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12)
#  error "ostraka: the compiler is g++ 12 or clang 16, or a later one; install one (CMake: CMAKE_CXX_COMPILER)"
#  include <ostraka_stops_here>
#elif __cplusplus < 202002L
#  error "ostraka: the language is C++20 or later; compile with -std=c++20 (CMake: its targets ask for it)"
#  include <ostraka_stops_here>
#endif
