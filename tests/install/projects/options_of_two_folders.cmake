# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The options of one folder do not apply to the other.
# says: in a: .*OSTRAKA_ENABLE_MPI=1.* in b: .*OSTRAKA_ENABLE_MPI=0

project(consumer LANGUAGES CXX)
foreach(folder IN ITEMS a b)
  set(mpi ON)
  if(folder STREQUAL "b")
    set(mpi OFF)
  endif()
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${folder}/CMakeLists.txt" "set(OSTRAKA_ENABLE_MPI ${mpi})
    find_package(ostraka REQUIRED)
    add_executable(${folder} \"${CMAKE_CURRENT_SOURCE_DIR}/program.cpp\")
    target_link_libraries(${folder} PRIVATE ostraka::ostraka)\n")
  add_subdirectory("${CMAKE_CURRENT_BINARY_DIR}/${folder}" "${CMAKE_CURRENT_BINARY_DIR}/${folder}/build")
endforeach()
file(GENERATE OUTPUT said.txt
  CONTENT "in a: $<TARGET_PROPERTY:a,COMPILE_DEFINITIONS> in b: $<TARGET_PROPERTY:b,COMPILE_DEFINITIONS>\n")
