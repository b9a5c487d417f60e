# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DSOURCE=... -P readme.cmake -- COMMAND...
# The program in README.md is examples/first, its error is one of ours, and its output on 8 ranks is the command's.

include("${CMAKE_CURRENT_LIST_DIR}/../examples/after_dashes.cmake")

file(READ "${SOURCE}/README.md" readme)
file(READ "${SOURCE}/examples/first/first.cpp" program)
file(GLOB headers "${SOURCE}/include/ostraka/types/reasons/of_*.hpp")
set(reasons "")
foreach(header IN LISTS headers)
  file(READ "${header}" more)
  string(APPEND reasons "${more}")
endforeach()

# fenced(result language after): the text of the first such fence in `after`, which becomes the text behind the fence.
function(fenced result language after)
  string(FIND "${${after}}" "```${language}\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "README.md lacks a block of ${language}")
  endif()
  string(LENGTH "```${language}\n" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${${after}}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} block)
  math(EXPR end "${end} + 3")
  string(SUBSTRING "${text}" ${end} -1 text)
  set(${result} "${block}" PARENT_SCOPE)
  set(${after} "${text}" PARENT_SCOPE)
endfunction()

set(rest "${readme}")
fenced(code cpp rest)
fenced(error text rest)
fenced(output text rest)

if(NOT code STREQUAL program)
  message(FATAL_ERROR "The program in README.md is not examples/first/first.cpp")
endif()

string(REGEX REPLACE "^.*static assertion failed: " "" sentence "${error}")
string(REPLACE "\n" " " sentence "${sentence}")
string(STRIP "${sentence}" sentence)
string(FIND "${reasons}" "${sentence}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md shows an error that is no reason: ${sentence}")
endif()

if(command)
  execute_process(COMMAND ${command} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT printed STREQUAL output)
    message(FATAL_ERROR "README.md says that the program prints\n${output}\nbut it prints (status "
      "${status})\n${printed}")
  endif()
endif()
