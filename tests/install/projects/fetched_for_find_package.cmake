# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# find_package is answered by FetchContent.
# needs: cmake_3.24

project(consumer LANGUAGES CXX)
include(FetchContent)
set(OSTRAKA_BUILD_COMPILED ON)
FetchContent_Declare(ostraka SOURCE_DIR "${CHECKOUT}" OVERRIDE_FIND_PACKAGE)
find_package(ostraka 0.1 REQUIRED COMPONENTS compiled)
foreach(name IN ITEMS plan large_plans ostraka compiled)
  if(NOT TARGET ostraka::${name})
    message(FATAL_ERROR "no ostraka::${name}")
  endif()
endforeach()
if(NOT ostraka_FOUND)
  message(FATAL_ERROR "ostraka_FOUND is not set")
endif()
add_executable(program program.cpp)
target_link_libraries(program PRIVATE ostraka::compiled)
