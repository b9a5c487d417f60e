# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Kokkos, and ostraka::compiled, were built by another compiler. What the other lacks is said, as OpenMP of a clang that came without.
# needs: clang
# says: (configured with Clang|Kokkos in .* cannot be used here \(.*OpenMP.*\); install what it lacks for)
# ends: in either way

project(consumer LANGUAGES CXX)
find_package(ostraka REQUIRED)
add_executable(program program.cpp)
target_link_libraries(program PRIVATE ostraka::ostraka)
message(STATUS "configured with ${CMAKE_CXX_COMPILER_ID}")
