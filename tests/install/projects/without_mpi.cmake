# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The remedy in the sentence about a missing MPI works: the consumer's option counts, whatever the installation was
# built with.
# says: OSTRAKA_ENABLE_MPI=0
# never: OSTRAKA_ENABLE_MPI=1|libmpi

project(consumer LANGUAGES CXX)
set(OSTRAKA_ENABLE_MPI OFF)
set(CMAKE_DISABLE_FIND_PACKAGE_MPI ON)
find_package(ostraka REQUIRED)
add_executable(program program.cpp)
target_link_libraries(program PRIVATE ostraka::ostraka)
