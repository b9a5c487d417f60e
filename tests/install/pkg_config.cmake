# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DPREFIX=folder -DNAME=ostraka-plan -DSOURCE=program.cpp -DSCRATCH=folder -DPKG_CONFIG=pkg-config
#     -DCOMPILER=g++ -P pkg_config.cmake
#
# Builds a program by a compiler and pkg-config alone, against an installed copy, and runs it.
# LIBRARIES: folders of shared libraries.

cmake_minimum_required(VERSION 3.23)
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(GLOB_RECURSE files "${PREFIX}/${NAME}.pc")
list(LENGTH files count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "one ${NAME}.pc has to be installed, but there are: ${files}")
endif()
file(GLOB_RECURSE files "${PREFIX}/*.pc")
list(TRANSFORM files REPLACE "/[^/]*$" "")
list(REMOVE_DUPLICATES files)
list(JOIN files ":" path)
set(ENV{PKG_CONFIG_PATH} "${path}")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "")
run("${PKG_CONFIG}" --print-errors --exists ${NAME})
foreach(kind IN ITEMS cflags libs)
  run(OUTPUT ${kind} "${PKG_CONFIG}" --${kind} ${NAME})
  separate_arguments(${kind} UNIX_COMMAND "${${kind}}")
endforeach()
file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}")
set(rpaths ${LIBRARIES})
list(TRANSFORM rpaths PREPEND "-Wl,-rpath,")
run("${COMPILER}" -std=c++20 -O0 ${cflags} "${SOURCE}" ${libs} ${rpaths} -o "${SCRATCH}/program")
run("${SCRATCH}/program")
