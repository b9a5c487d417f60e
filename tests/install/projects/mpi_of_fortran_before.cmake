# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# needs: fortran

project(consumer LANGUAGES Fortran CXX)
find_package(MPI)
find_package(ostraka REQUIRED)
if(NOT TARGET MPI::MPI_CXX)
  message(FATAL_ERROR "no MPI for C++")
endif()
