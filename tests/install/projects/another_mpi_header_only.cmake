# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Headers go with any MPI; the library is left out, and CMake says why.
# needs: compiled other_mpi
# says: without ostraka::compiled. ostraka::compiled was built with (Open MPI|MPICH), but this project has (Open
#   MPI|MPICH);

project(consumer LANGUAGES CXX)
set(MPI_CXX_COMPILER "${OTHER_MPI}" CACHE FILEPATH "" FORCE)
find_package(ostraka REQUIRED)
if(NOT TARGET ostraka::ostraka OR TARGET ostraka::compiled)
  message(FATAL_ERROR "not ostraka::ostraka alone")
endif()
