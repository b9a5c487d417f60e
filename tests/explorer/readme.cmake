# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DEXPLORER=ostraka-plan -DREADME=README.md -DBLOCKS=3 -DFOLDER=examples/explorer -DSCRATCH=folder -P
#     readme.cmake
#
# The README, or another page, shows the program's output: this runs the command of each block that begins with a $ in
# the folder of the example, and compares. The page has BLOCKS such blocks.

cmake_minimum_required(VERSION 3.23)
file(READ "${README}" rest)
set(blocks 0)
while(TRUE)
  string(FIND "${rest}" "```console\n$ ostraka-plan " begin)
  if(begin EQUAL -1)
    break()
  endif()
  math(EXPR begin "${begin} + 11")
  string(SUBSTRING "${rest}" ${begin} -1 rest)
  string(FIND "${rest}" "\n```" end)
  string(SUBSTRING "${rest}" 0 ${end} block)
  string(SUBSTRING "${rest}" ${end} -1 rest)
  string(FIND "${block}" "\n" line)
  string(SUBSTRING "${block}" 0 ${line} command)
  math(EXPR line "${line} + 1")
  string(SUBSTRING "${block}" ${line} -1 shown)
  string(REPLACE "$ ostraka-plan " "" arguments "${command}")
  separate_arguments(arguments UNIX_COMMAND "${arguments}")
  execute_process(COMMAND "${EXPLORER}" ${arguments} WORKING_DIRECTORY "${FOLDER}" OUTPUT_VARIABLE said
    ERROR_VARIABLE complaint)
  string(STRIP "${said}${complaint}" said)
  string(STRIP "${shown}" shown)
  if(NOT said STREQUAL shown)
    message(SEND_ERROR "${command}\nsays\n${said}\nand the README shows\n${shown}")
  endif()
  math(EXPR blocks "${blocks} + 1")
endwhile()
if(NOT blocks EQUAL BLOCKS)
  message(FATAL_ERROR "${blocks} blocks in ${README}, not ${BLOCKS}")
endif()
if(NOT README MATCHES "README[.]md$")
  return()
endif()

file(READ "${README}" text)
file(READ "${FOLDER}/layer.txt" layer)
string(REGEX REPLACE "\n([^\n])" "\n    \\1" layer "\n${layer}")
string(FIND "${text}" "${layer}" at)
if(at EQUAL -1)
  message(SEND_ERROR "the README does not show layer.txt:${layer}")
endif()
