# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# says: The compiler, GNU 11.4.0, is too old; install g\+\+ 12 or clang 16, or a later one, and name it with
#   CMAKE_CXX_COMPILER
# ends: in an error

project(consumer LANGUAGES CXX)
set(CMAKE_CXX_COMPILER_ID GNU)  # as if it were
set(CMAKE_CXX_COMPILER_VERSION 11.4.0)
find_package(ostraka REQUIRED)
