# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DCOMPILER=g++ -DSOURCE=file.cpp -DINCLUDE_DIR=include [-DFLAGS_FILE=flags.cmake] [-DPRECOMPILED=header.hpp]
#     [-DMISTAKE_ONLY=ON] [-DKEEP=said.txt] -P compile_fail.cmake
#   cmake -DCOMPILER=g++ -DPRECOMPILE=header.hpp -DINCLUDE_DIR=include [-DFLAGS_FILE=flags.cmake] -P compile_fail.cmake
#   cmake -DCOMPILER=g++ -DCONTROLS=all.cpp -DINCLUDE_DIR=include [-DFLAGS_FILE=flags.cmake] [-DPRECOMPILED=header.hpp]
#     -P compile_fail.cmake
#
# The second form compiles a header once for all tests of the other forms that name it: Kokkos and MPI take most of the
# time of each. The third form compiles the controls of many files at once, whose tests then have the first form with
# MISTAKE_ONLY.
#
# The file has a control and, under #ifdef SHOULD_FAIL, the mistake. The control must compile. The mistake must not; the
# compiler's output must have every text that the file gives in a line "// error: text", and exactly one error, a static
# assertion: the first error is the only one.
# KEEP: the file for the compiler's output about the mistake, from which docs/errors.md is made.
# (CTest's own regular expressions pass a compiler that exits with 0, and take a list to mean "or".)

cmake_minimum_required(VERSION 3.23)

set(command "${COMPILER}" -std=c++20 -fsyntax-only -Wall -Wextra -fdiagnostics-color=never -fmessage-length=0
  "-I${INCLUDE_DIR}"
  -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
# Suppresses the source lines: a text must be in a message, not in the echo of the file that asks for it.
if(COMPILER MATCHES "clang")
  list(APPEND command -fno-caret-diagnostics -ftemplate-backtrace-limit=0)  # a limit may hide the program's own line
else()
  list(APPEND command -fno-diagnostics-show-caret -ftemplate-backtrace-limit=0)
endif()
if(FLAGS_FILE)
  include("${CMAKE_CURRENT_LIST_DIR}/read_flags.cmake")
  list(APPEND command ${flags})
endif()

set(precompiled_suffix .gch)
set(use_precompiled -include "${PRECOMPILED}")
if(COMPILER MATCHES "clang")
  set(precompiled_suffix .pch)
  set(use_precompiled -include-pch "${PRECOMPILED}${precompiled_suffix}")
endif()
if(PRECOMPILE)
  list(REMOVE_ITEM command -fsyntax-only)
  if(COMPILER MATCHES "clang")
    # otherwise each program that uses the header instantiates the templates that its functions need
    list(APPEND command -fpch-instantiate-templates)
  endif()
  execute_process(COMMAND ${command} -x c++-header "${PRECOMPILE}" -o "${PRECOMPILE}${precompiled_suffix}"
    COMMAND_ERROR_IS_FATAL ANY)
  return()
elseif(PRECOMPILED)
  list(APPEND command ${use_precompiled})
endif()
if(CONTROLS)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env LC_ALL=C.UTF-8 ${command} "${CONTROLS}" COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()

function(compile result output)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env LC_ALL=C.UTF-8 ${command} ${ARGN} "${SOURCE}"
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${result} "${status}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

file(STRINGS "${SOURCE}" expected REGEX "^ *// error: " ENCODING UTF-8)
file(READ "${SOURCE}" source)
if(NOT expected)
  message(FATAL_ERROR "${SOURCE} says no \"// error: text\", so nothing would be checked")
elseif(NOT source MATCHES "#if(def| +defined\\(?) *SHOULD_FAIL")
  message(FATAL_ERROR "${SOURCE} has no \"#ifdef SHOULD_FAIL\"")
endif()

if(NOT MISTAKE_ONLY)
  compile(status output)
  if(NOT status EQUAL 0)
    message(NOTICE "${output}")
    message(FATAL_ERROR "the control does not compile")
  endif()
endif()

compile(status output -DSHOULD_FAIL)
set(failures "")
if(status EQUAL 0)
  set(failures "the mistake compiles\n")
endif()
# Gives types one spelling for all compilers: g++ leaves out namespaces that clang prints and writes "> >".
function(normalise result text)
  string(REGEX REPLACE "ostraka::|reason::|detail::" "" text "${text}")
  string(REPLACE "> >" ">>" text "${text}")
  string(REPLACE "> >" ">>" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()
normalise(normalised_output "${output}")
foreach(line IN LISTS expected)
  string(REGEX REPLACE "^ *// error: *" "" text "${line}")
  normalise(normalised_text "${text}")
  string(FIND "${normalised_output}" "${normalised_text}" position)
  if(position EQUAL -1)
    string(APPEND failures "the output lacks: ${text}\n")
  endif()
endforeach()

# Semicolons in the output are no list separators here; brackets would keep REGEX MATCHALL from splitting.
string(REGEX REPLACE "[][;]" "," lines "${output}")
string(REGEX MATCHALL "[^\n]*(static assertion failed|static_assert failed)[^\n]*" assertions "${lines}")
string(REGEX MATCHALL "[^\n]*: (fatal )?error: [^\n]*" errors "${lines}")
list(LENGTH assertions assertion_count)
list(LENGTH errors error_count)
if(NOT assertion_count EQUAL 1)
  string(APPEND failures "static assertions that failed: ${assertion_count}, expected 1\n")
endif()
if(NOT error_count EQUAL 1)
  string(APPEND failures "errors: ${error_count}, expected 1\n")
endif()
if(KEEP)
  file(REMOVE "${KEEP}")
endif()
if(failures)
  message(NOTICE "${failures}--- ${COMPILER} said:\n${output}")
  message(FATAL_ERROR "not the error that ${SOURCE} promises")
endif()
if(KEEP)
  file(WRITE "${KEEP}" "${output}")
endif()
