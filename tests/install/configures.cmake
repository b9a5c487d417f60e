# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DPROJECT=projects/quiet.cmake -DSCRATCH=folder -P configures.cmake -- <arguments for cmake>
#
# Configures a project of one file, and builds nothing. Its first lines give the messages that CMake must print
# ("# says: regex", all of them) and must not print ("# never: regex"), in lines joined to one; a line that begins with
# "#   " continues a regex. "# ends: in an error", or "in either way", says that configuring may fail. The options of
# `program`, if the project has such a target, count as printed.

cmake_minimum_required(VERSION 3.23)
include("${CMAKE_CURRENT_LIST_DIR}/../examples/after_dashes.cmake")

file(READ "${PROJECT}" text)
file(REMOVE_RECURSE "${SCRATCH}")
file(WRITE "${SCRATCH}/program.cpp" "int main() {}\n")
file(WRITE "${SCRATCH}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.23)\n${text}
if(TARGET program)
  file(GENERATE OUTPUT said.txt CONTENT
    \"$<TARGET_PROPERTY:program,COMPILE_DEFINITIONS> $<TARGET_PROPERTY:program,LINK_LIBRARIES>\\n\")
endif()\n")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SCRATCH}" -B "${SCRATCH}/build" --no-warn-unused-cli ${command}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(EXISTS "${SCRATCH}/build/said.txt")
  file(READ "${SCRATCH}/build/said.txt" said)
  string(APPEND output "${said}")
endif()
message(NOTICE "${output}")
string(REGEX REPLACE "[ \t\n]+" " " read "${output}")  # one line, however CMake breaks it

function(expectations key result)
  string(REGEX MATCHALL "(^|\n)# ${key}: [^\n]*(\n#   [^\n]*)*" lines "${text}")
  list(TRANSFORM lines REPLACE "^\n?# ${key}: " "")
  list(TRANSFORM lines REPLACE "\n#   " " ")
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

string(REPLACE ";" "<semicolon>" text "${text}")
string(REPLACE ";" "<semicolon>" read "${read}")
expectations(ends ends)
if(ends STREQUAL "in an error" AND status EQUAL 0)
  message(SEND_ERROR "CMake ended well and has to end in an error")
elseif(ends STREQUAL "" AND NOT status EQUAL 0)
  message(SEND_ERROR "CMake ended with ${status}")
endif()
expectations(says all)
foreach(says IN LISTS all)
  if(NOT read MATCHES "${says}")
    message(SEND_ERROR "CMake has to say: ${says}")
  endif()
endforeach()
expectations(never all)
string(REPLACE "${SCRATCH}" "" read "${read}")  # a path may contain any name
foreach(never IN LISTS all)
  if(read MATCHES "${never}")
    message(SEND_ERROR "CMake must not say: ${never}")
  endif()
endforeach()
