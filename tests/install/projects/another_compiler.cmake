# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Kokkos, and ostraka::compiled, were built by another compiler. CMake reports what the other compiler lacks, such as a
# clang's OpenMP.
# needs: clang
# says: (configured with Clang, and compiles|Kokkos in [^ ]+ has OpenMP, and [^ ]+ has not; install its OpenMP|cannot be
#   used here \(.*OpenMP.*\); install what it lacks for)
# ends: in either way

project(consumer LANGUAGES CXX)
find_package(ostraka REQUIRED)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
add_executable(program program.cpp)
target_link_libraries(program PRIVATE ostraka::ostraka)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/kokkos.cpp" "#include <Kokkos_Core.hpp>\n")
try_compile(compiles "${CMAKE_CURRENT_BINARY_DIR}/compiles" SOURCES "${CMAKE_CURRENT_BINARY_DIR}/kokkos.cpp"
  LINK_LIBRARIES Kokkos::kokkos)
if(compiles)
  message(STATUS "configured with ${CMAKE_CXX_COMPILER_ID}, and compiles")
endif()
