# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A Kokkos that lacks something for this compiler, such as OpenMP, is not reported as "not found".
# says: Kokkos in [^ ]*kokkos cannot be used here \(Kokkos could not be found because dependency OpenMP could not be
#   found\); install what it lacks for [^ ]+, or name another Kokkos with Kokkos_ROOT
# ends: in an error

project(consumer LANGUAGES CXX)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/kokkos/KokkosConfig.cmake" "set(Kokkos_FOUND FALSE)
  set(Kokkos_NOT_FOUND_MESSAGE \"Kokkos could not be found because dependency OpenMP could not be found.\")\n")
set(Kokkos_DIR "${CMAKE_CURRENT_BINARY_DIR}/kokkos" CACHE PATH "" FORCE)
find_package(ostraka REQUIRED)
