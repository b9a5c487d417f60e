# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# never: ostraka|Kokkos|MPI

project(consumer LANGUAGES CXX)
set(CMAKE_DISABLE_FIND_PACKAGE_Kokkos ON)
find_package(ostraka QUIET)
if(ostraka_FOUND)
  message(FATAL_ERROR "found")
endif()
