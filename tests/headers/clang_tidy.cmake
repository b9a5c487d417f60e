# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DTIDY=clang-tidy -DSOURCE=program.cpp -DINCLUDE_DIR=include -DFLAGS_FILE=flags.cmake -P clang_tidy.cmake
#
# clang-tidy, with the checks of .clang-tidy, reports nothing for a program and for the headers that it includes.

cmake_minimum_required(VERSION 3.23)

set(COMPILER "${TIDY}")
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/read_flags.cmake")
execute_process(COMMAND "${TIDY}" --quiet "${SOURCE}"
  -- -std=c++20 "-I${INCLUDE_DIR}" -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX ${flags}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${output}\nclang-tidy reports the above; mend it, or exclude the check in .clang-tidy and say "
    "why in docs/design/setup.md")
endif()
