# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DCONSUMER=folder -DBUILD_DIR=folder [-DLAUNCHER=its|words] -P build_and_run.cmake -- <arguments for cmake>
#
# Configures the consumer in an empty build folder, builds it and runs its program.

cmake_minimum_required(VERSION 3.23)

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/../examples/after_dashes.cmake")

if(LAUNCHER)
  string(REPLACE "|" ";" launcher "${LAUNCHER}")
  set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} "${launcher}")
endif()
file(REMOVE_RECURSE "${BUILD_DIR}")
run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${BUILD_DIR}" ${command})
run("${CMAKE_COMMAND}" --build "${BUILD_DIR}")
run("${BUILD_DIR}/program")
