# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DSOURCE=. -P paths.cmake
#
# Checks what CONTRIBUTING.md, README.md and the pages of docs/ say of files. `room/header.hpp` must be the end of a
# file's path and `room/` that of a folder's; a link must lead to a file. CONTRIBUTING.md must name every room, those of
# the surface in the order of cmake/check_floors.cmake.

cmake_minimum_required(VERSION 3.23)

file(GLOB_RECURSE files LIST_DIRECTORIES TRUE RELATIVE "${SOURCE}" "${SOURCE}/include/*" "${SOURCE}/tests/*"
  "${SOURCE}/examples/*" "${SOURCE}/bench/*"
  "${SOURCE}/cmake/*" "${SOURCE}/docs/*")
set(there ";/.ci/;/bench/;/cmake/;/docs/;/examples/;/include/;/tests/;")
foreach(file IN LISTS files)
  if(IS_DIRECTORY "${SOURCE}/${file}")
    string(APPEND file "/")
  endif()
  string(APPEND there "/${file};")
endforeach()

file(GLOB pages "${SOURCE}/CONTRIBUTING.md" "${SOURCE}/README.md" "${SOURCE}/docs/*.md" "${SOURCE}/docs/design/*.md")
list(REMOVE_ITEM pages "${SOURCE}/docs/errors.md")  # output of compilers, written by a program
set(mentioned 0)
foreach(page IN LISTS pages)
  file(READ "${page}" text)
  cmake_path(GET page PARENT_PATH folder)
  string(REPLACE "](" " LINK:" text "${text}")
  string(REGEX REPLACE "[][;]" " " text "${text}")  # they have a meaning in lists
  string(REGEX MATCHALL "LINK:[A-Za-z0-9_./-]+[)#]" links "${text}")
  foreach(link IN LISTS links)
    string(REGEX REPLACE "LINK:|[)#]" "" link "${link}")
    if(NOT EXISTS "${folder}/${link}")
      message(SEND_ERROR "${page}: there is no ${link} that a link could lead to")
    endif()
  endforeach()
  string(REGEX MATCHALL "[`<][a-z0-9_./]*(/|[a-z0-9_]\\.(hpp|cpp|cmake|py))[`>]" paths "${text}")
  foreach(path IN LISTS paths)
    string(REGEX REPLACE "[`<>]" "" path "${path}")
    string(REGEX REPLACE "^\\./" "" path "${path}")
    math(EXPR mentioned "${mentioned} + 1")
    string(FIND "${there}" "/${path};" at)
    if(at EQUAL -1)
      message(SEND_ERROR "${page}: there is no ${path}")
    endif()
  endforeach()
endforeach()
if(mentioned EQUAL 0)
  message(SEND_ERROR "no page mentions a path")
endif()

# The table of rooms.
file(READ "${SOURCE}/CONTRIBUTING.md" text)
string(REGEX MATCH "\n## Rooms\n.*\n## Where to add\n" text "${text}")
file(STRINGS "${SOURCE}/cmake/check_floors.cmake" lines REGEX "^  \"[a-z0-9_/]+:")
set(last -1)
foreach(line IN LISTS lines)
  string(REGEX MATCH "^  \"([a-z0-9_/]+):" _ "${line}")
  set(room "${CMAKE_MATCH_1}")
  cmake_path(GET room FILENAME name)
  string(FIND "${text}" "`ostraka/${room}/`" at)
  if(at EQUAL -1)
    string(FIND "${text}" "`${room}/`" at)
  endif()
  string(FIND "${text}" "`${name}/`" at_name)
  if(at EQUAL -1 AND at_name EQUAL -1)
    message(SEND_ERROR "CONTRIBUTING.md: the table of rooms lacks ${room}/")
  elseif(NOT room MATCHES "/")
    if(at LESS_EQUAL last)
      message(SEND_ERROR "CONTRIBUTING.md: the table of rooms has ${room}/ before a room that it includes; "
        "cmake/check_floors.cmake has the order")
    endif()
    set(last ${at})
  endif()
endforeach()
