# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
project(consumer LANGUAGES CXX)
set(OSTRAKA_BUILD_COMPILED ON)
add_subdirectory("${CHECKOUT}" ostraka EXCLUDE_FROM_ALL)
foreach(name IN ITEMS plan large_plans ostraka compiled)
  if(NOT TARGET ostraka::${name})
    message(FATAL_ERROR "no ostraka::${name}")
  endif()
endforeach()
add_executable(program program.cpp)
target_link_libraries(program PRIVATE ostraka::compiled)
