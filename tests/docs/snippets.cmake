# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DPAGE=docs/budgets.md -DSOURCE=tests/types/budgets.cpp -P snippets.cmake
# Every block of C++ in the page is, but for white space, in a compiled source; several sources are separated by commas.

cmake_minimum_required(VERSION 3.23)

file(READ "${PAGE}" rest)
string(REPLACE "," ";" sources "${SOURCE}")
set(source "")
foreach(file IN LISTS sources)
  file(READ "${file}" text)
  string(APPEND source "${text}")
endforeach()
string(REGEX REPLACE "[ \n]+" "" source "${source}")  # a page and a source may break lines differently
set(count 0)
while(TRUE)
  string(FIND "${rest}" "```cpp\n" begin)
  if(begin EQUAL -1)
    break()
  endif()
  math(EXPR begin "${begin} + 7")
  string(SUBSTRING "${rest}" ${begin} -1 rest)
  string(FIND "${rest}" "```" end)
  string(SUBSTRING "${rest}" 0 ${end} block)
  math(EXPR end "${end} + 3")
  string(SUBSTRING "${rest}" ${end} -1 rest)
  string(REGEX REPLACE "[ \n]+" "" dense "${block}")
  string(FIND "${source}" "${dense}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "${PAGE} shows what is not in ${SOURCE}:\n${block}")
  endif()
  math(EXPR count "${count} + 1")
endwhile()
if(count EQUAL 0)
  message(FATAL_ERROR "${PAGE} has no block of C++")
endif()
