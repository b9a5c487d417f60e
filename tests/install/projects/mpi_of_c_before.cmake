# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# MPI was found before, for another language.

project(consumer LANGUAGES C CXX)
find_package(MPI REQUIRED COMPONENTS C)
find_package(ostraka REQUIRED)
if(NOT TARGET MPI::MPI_CXX)
  message(FATAL_ERROR "no MPI for C++")
endif()
