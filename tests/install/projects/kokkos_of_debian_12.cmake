# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The target of Debian 12's Kokkos, libtrilinos-kokkos-dev, names a folder that does not exist; a variable of the
# package names the right one.
# says: headers of Kokkos: [^ ]*/include/trilinos

project(consumer LANGUAGES CXX)
set(folder "${CMAKE_CURRENT_BINARY_DIR}/usr")
file(WRITE "${folder}/include/trilinos/Kokkos_Core.hpp" "")
file(WRITE "${folder}/lib/cmake/Kokkos/KokkosConfig.cmake" "set(Kokkos_VERSION 3.4.01)
  set(Kokkos_DEVICES SERIAL)
  set(Kokkos_INCLUDE_DIRS ${folder}/include/trilinos)
  add_library(Kokkos::kokkos INTERFACE IMPORTED)
  set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${folder}/lib/include)
")
set(Kokkos_DIR "${folder}/lib/cmake/Kokkos" CACHE PATH "" FORCE)
find_package(ostraka REQUIRED)
get_target_property(headers Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
message(STATUS "headers of Kokkos: ${headers}")
add_executable(program program.cpp)
target_link_libraries(program PRIVATE ostraka::ostraka)  # CMake looks for the folder
