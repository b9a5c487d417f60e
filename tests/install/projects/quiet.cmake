# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# never: ostraka|Kokkos|MPI

project(consumer LANGUAGES CXX)
find_package(ostraka QUIET)
if(NOT TARGET ostraka::ostraka)
  message(FATAL_ERROR "not found")
endif()
