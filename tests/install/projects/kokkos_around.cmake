# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Kokkos is found before and after, and all of it again in two folders.

project(consumer LANGUAGES CXX)
foreach(folder IN ITEMS a b)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${folder}/CMakeLists.txt" "find_package(Kokkos REQUIRED CONFIG)
    find_package(ostraka REQUIRED)
    find_package(Kokkos REQUIRED CONFIG)
    find_package(ostraka REQUIRED)
    add_executable(${folder} \"${CMAKE_CURRENT_SOURCE_DIR}/program.cpp\")
    target_link_libraries(${folder} PRIVATE ostraka::ostraka)\n")
  add_subdirectory("${CMAKE_CURRENT_BINARY_DIR}/${folder}" "${CMAKE_CURRENT_BINARY_DIR}/${folder}/build")
endforeach()
find_package(ostraka REQUIRED)
find_package(Kokkos REQUIRED CONFIG)
add_executable(program program.cpp)
target_link_libraries(program PRIVATE ostraka::ostraka)
