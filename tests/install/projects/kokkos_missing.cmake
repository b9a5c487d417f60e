# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# says: ostraka: Kokkos was not found; install it
# never: MPI was not found
# ends: in an error

project(consumer LANGUAGES CXX)
set(CMAKE_DISABLE_FIND_PACKAGE_Kokkos ON)
find_package(ostraka REQUIRED)
