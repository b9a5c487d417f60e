# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A project of shared libraries: ostraka::compiled is one too, if Kokkos is; else it is static, and CMake says why.
# says: (ostraka::compiled is static: a shared ostraka::compiled needs a shared Kokkos, but the one in [^ ]+ is static;
#   .* STATIC_LIBRARY|kind: SHARED_LIBRARY)

project(consumer LANGUAGES CXX)
set(BUILD_SHARED_LIBS ON)
set(OSTRAKA_BUILD_COMPILED ON)
add_subdirectory("${CHECKOUT}" ostraka)
get_target_property(kind ostraka_compiled TYPE)
message(STATUS "kind: ${kind}")
add_executable(program program.cpp)
target_link_libraries(program PRIVATE ostraka::compiled)
