# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DSOURCE=folder -DSCRATCH=folder -DKOKKOS=folder -DCOMPILER=g++ -P bootstrap_project.cmake
#
# `bash cmake/bootstrap.sh project FOLDER`, as on a fresh Debian: the machine has Ninja and no make. Packages are not
# installed here.

cmake_minimum_required(VERSION 3.23)
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}/tools" "${SCRATCH}/cache")
find_program(bash bash REQUIRED)
# By the shell: a list of CMake cannot hold the program [.
run("${bash}" -c [[
  IFS=:
  for folder in $PATH; do ln -s "$folder"/* "$0" 2>/dev/null; done
  rm "$0"/make "$0"/gmake "$0"/apt-get 2>/dev/null
  [[ -e $0/ninja && -e $0/cmake ]]
]] "${SCRATCH}/tools")
set(ENV{PATH} "${SCRATCH}/tools")
set(ENV{CXX} "${COMPILER}")
set(ENV{Kokkos_DIR} "${KOKKOS}")
set(ENV{OSTRAKA_CACHE} "${SCRATCH}/cache")
unset(ENV{CMAKE_GENERATOR})
run(OUTPUT said "${bash}" "${SOURCE}/cmake/bootstrap.sh" project "${SCRATCH}/my_project")
if(NOT said MATCHES "100% tests passed, 0 tests failed out of 3")
  message(FATAL_ERROR "the project's tests on 1, 2 and 4 ranks did not all pass")
endif()
