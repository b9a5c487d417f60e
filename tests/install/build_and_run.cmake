# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DCONSUMER=folder -DBUILD_DIR=folder [-DLAUNCHER=its|words] -P build_and_run.cmake -- <arguments for cmake>
#
# Configures the consumer in an empty build folder, builds it and runs its program.

cmake_minimum_required(VERSION 3.23)

set(arguments "")
set(mine TRUE)
foreach(index RANGE 1 ${CMAKE_ARGC})
  if(NOT mine AND index LESS CMAKE_ARGC)
    list(APPEND arguments "${CMAKE_ARGV${index}}")
  elseif(CMAKE_ARGV${index} STREQUAL "--")
    set(mine FALSE)
  endif()
endforeach()

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message(NOTICE "${output}")
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "ended with ${status}: ${command}")
  endif()
endfunction()

if(LAUNCHER)
  string(REPLACE "|" ";" launcher "${LAUNCHER}")
  set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} "${launcher}")
endif()
file(REMOVE_RECURSE "${BUILD_DIR}")
run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${BUILD_DIR}" ${arguments})
run("${CMAKE_COMMAND}" --build "${BUILD_DIR}")
run("${BUILD_DIR}/program")
