# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# says: MPI was not found; install one, name its compiler wrapper with MPI_CXX_COMPILER, or set OSTRAKA_ENABLE_MPI=OFF.
#   Kokkos was not found; install it \(3.4 or later and before 6\) and name its prefix with Kokkos_ROOT
# ends: in an error

project(consumer LANGUAGES CXX)
set(CMAKE_DISABLE_FIND_PACKAGE_MPI ON)
set(CMAKE_DISABLE_FIND_PACKAGE_Kokkos ON)
find_package(ostraka REQUIRED)
