# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# says: only ostraka::plan is available: MPI was not found; install one, name .* or set OSTRAKA_ENABLE_MPI=OFF. Kokkos
#   was not found; install it

project(consumer LANGUAGES CXX)
set(CMAKE_DISABLE_FIND_PACKAGE_MPI ON)
set(CMAKE_DISABLE_FIND_PACKAGE_Kokkos ON)
add_subdirectory("${CHECKOUT}" ostraka)
if(NOT TARGET ostraka::plan OR TARGET ostraka::ostraka)
  message(FATAL_ERROR "not ostraka::plan alone")
endif()
