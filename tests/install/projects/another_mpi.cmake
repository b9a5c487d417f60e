# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# needs: compiled other_mpi
# says: ostraka::compiled was built with (Open MPI|MPICH), but this project has (Open MPI|MPICH); name the same with
#   MPI_CXX_COMPILER, or build ostraka again
# ends: in an error

project(consumer LANGUAGES CXX)
set(MPI_CXX_COMPILER "${OTHER_MPI}" CACHE FILEPATH "" FORCE)
find_package(ostraka REQUIRED COMPONENTS compiled)
