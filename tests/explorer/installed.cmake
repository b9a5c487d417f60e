# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DBUILD=build -DSCRATCH=folder -P installed.cmake
#
# Installed alone, the program has the name ostraka-plan, and runs.

cmake_minimum_required(VERSION 3.23)
file(REMOVE_RECURSE "${SCRATCH}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --component explorer --prefix "${SCRATCH}" OUTPUT_QUIET
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE files LIST_DIRECTORIES FALSE "${SCRATCH}/*")
list(LENGTH files count)
cmake_path(GET files STEM name)
if(NOT count EQUAL 1 OR NOT name STREQUAL "ostraka-plan")
  message(FATAL_ERROR "installed are ${files}")
endif()
execute_process(COMMAND "${files}" "x[B_X,M] g[B_X,H] -> w[M,H]" --mesh X=8 --sizes B=4096,M=1024,H=4096
  RESULT_VARIABLE status OUTPUT_VARIABLE output
  ERROR_VARIABLE complaint)
if(NOT status EQUAL 0 OR NOT output MATCHES "os::einsum<M, H>\\(x, g\\)")
  message(FATAL_ERROR "ended with ${status} and said:\n${complaint}${output}")
endif()
