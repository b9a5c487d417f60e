# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a check of the sources, the script CHECK, on planted files in the folder SCRATCH.

cmake_minimum_required(VERSION 3.23)

# Makes SCRATCH a folder with these files alone: names and contents by turns.
function(plant)
  file(REMOVE_RECURSE "${SCRATCH}")
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 0 ${last} 2)
    math(EXPR j "${i} + 1")
    file(WRITE "${SCRATCH}/${ARGV${i}}" "${ARGV${j}}")
  endforeach()
endfunction()

# Runs the check, which has to fail and say the sentence, or to pass if the sentence is empty.
function(require_said sentence planted)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${SCRATCH}" -P "${CHECK}" RESULT_VARIABLE status
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(sentence STREQUAL "")
    if(NOT status EQUAL 0)
      message(SEND_ERROR "found, and there is nothing: ${planted}; the check said:\n${output}")
    endif()
    return()
  endif()
  string(FIND "${output}" "${sentence}" position)
  if(status EQUAL 0 OR position EQUAL -1)
    message(SEND_ERROR "not found: ${planted}; the check said:\n${output}")
  endif()
endfunction()
