# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DINCLUDE_DIR=include -P check_floors.cmake
#
# Includes go down: types (1) < plan (2) < engine (3) < surface (4). Floors 1 and 2 include the standard library and nothing else.
# Two rooms of the engine know no other: local/ (what a device computes on its blocks) and job/ (processes, threads, how they end; and MPI). Both may
# ask openblas.hpp, what that library tells about itself, and use the engine's arrays, dynamic_array.hpp.
# mpi.h is named under engine/ and by the surface alone; cblas.h under engine/local/blas/ alone; ostraka.hpp, the whole, by no header.

cmake_minimum_required(VERSION 3.23)

function(floor_of header result)
  if(header MATCHES "^ostraka/(types/|version\\.hpp$)")
    set(floor 1)
  elseif(header MATCHES "^ostraka/(plan/|plan\\.hpp$)")
    set(floor 2)
  elseif(header MATCHES "^ostraka/engine/")
    set(floor 3)
  else()
    set(floor 4)
  endif()
  set(${result} ${floor} PARENT_SCOPE)
endfunction()

# The rule that header breaks by including what it includes, or nothing.
function(broken_rule header included result)
  set(rule "")
  floor_of("${header}" floor)
  if(included MATCHES "^ostraka/")
    floor_of("${included}" included_floor)
    if(included_floor GREATER floor)
      set(rule "floor ${floor} includes floor ${included_floor}, includes go down")
    elseif(included STREQUAL "ostraka/ostraka.hpp")
      set(rule "ostraka.hpp is for users, a header includes what it needs")
    elseif(header MATCHES "^ostraka/engine/local/" AND NOT included MATCHES "^ostraka/(types/|engine/local/|engine/(openblas|dynamic_array|per_thread)\\.hpp$)")
      set(rule "engine/local/ knows blocks of memory and nothing else of the engine")
    elseif(header MATCHES "^ostraka/engine/job/" AND NOT included MATCHES "^ostraka/(types/|engine/job/|engine/(mpi|openblas|dynamic_array|per_thread)\\.hpp$)")
      set(rule "engine/job/ knows processes and nothing else of the engine")
    elseif(NOT EXISTS "${INCLUDE_DIR}/${included}")
      set(rule "there is no such header")
    endif()
  elseif(floor LESS_EQUAL 2 AND included MATCHES "[./]")
    set(rule "floor ${floor} includes the standard library only")
  elseif(included STREQUAL "cblas.h" AND NOT header MATCHES "^ostraka/engine/local/blas/")
    set(rule "only engine/local/blas/ names CBLAS")
  endif()
  set(${result} "${rule}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE headers RELATIVE "${INCLUDE_DIR}" "${INCLUDE_DIR}/ostraka/*.hpp")
set(include_pattern "^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]")
set(broken FALSE)
foreach(header IN LISTS headers)
  file(STRINGS "${INCLUDE_DIR}/${header}" lines REGEX "${include_pattern}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "${include_pattern}" _ "${line}")
    set(included "${CMAKE_MATCH_1}")
    get_filename_component(folder "${INCLUDE_DIR}/${header}" DIRECTORY)
    if(line MATCHES "include *\"" AND EXISTS "${folder}/${included}")  # relative to the header
      get_filename_component(included "${folder}/${included}" ABSOLUTE)
      file(RELATIVE_PATH included "${INCLUDE_DIR}" "${included}")
    endif()
    broken_rule("${header}" "${included}" rule)
    if(rule)
      message(NOTICE "${header}: includes ${included}: ${rule}")
      set(broken TRUE)
    endif()
  endforeach()
endforeach()

list(LENGTH headers count)
if(broken)
  message(FATAL_ERROR "includes go down")
elseif(count EQUAL 0)
  message(FATAL_ERROR "no headers in ${INCLUDE_DIR}/ostraka")
endif()
message(STATUS "${count} headers, all includes go down")
