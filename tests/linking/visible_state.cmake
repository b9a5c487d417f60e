# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DINCLUDE_DIR=include -P visible_state.cmake
#
# Variables of the headers that are not constants are visible, so that a process has one of each
# (docs/design/compiled.md). `own` lists those of which each library may have its own: the file, and the text of the
# line behind `inline`.

cmake_minimum_required(VERSION 3.23)

set(own
  "types/axes/one_extent.hpp: constinit known_extent extent_of_program"        # follows the templates of the axis
  "calls/checked_plan.hpp: constinit advice_record advice_of"       # the advice given for one call
  "engine/memory/library_handles.hpp: static "                           # a library ends the handles that it made
)

file(GLOB_RECURSE headers RELATIVE "${INCLUDE_DIR}/ostraka" "${INCLUDE_DIR}/ostraka/*.hpp")
set(hidden "")
set(visible 0)
foreach(header IN LISTS headers)
  file(STRINGS "${INCLUDE_DIR}/ostraka/${header}" lines REGEX "^ *(\\[\\[[^]]*\\]\\] )?(static )?inline ")
  foreach(line IN LISTS lines)
    # A function has parentheses before its name ends the declaration; a constant is declared as one.
    # a pointer to a function is a variable
    string(REGEX REPLACE "\\(\\*([a-z_]+)\\)\\([^)]*\\)?" "\\1" plain "${line}")
    if(plain MATCHES "constexpr" OR NOT plain MATCHES "inline [^(]*[a-z_](\\{| = |$)"
      OR plain MATCHES " (namespace|operator)")
      continue()
    endif()
    if(line MATCHES "gnu::visibility\\(\"default\"\\)")
      math(EXPR visible "${visible} + 1")
      continue()
    endif()
    set(is_own FALSE)
    foreach(one IN LISTS own)
      string(REGEX MATCH "^([^:]*): (.*)$" all "${one}")
      string(FIND "${line}" "inline ${CMAKE_MATCH_2}" at)
      if(header STREQUAL CMAKE_MATCH_1 AND NOT at EQUAL -1)
        set(is_own TRUE)
      endif()
    endforeach()
    if(NOT is_own)
      string(APPEND hidden "  ${header}: ${line}\n")
    endif()
  endforeach()
endforeach()
if(hidden)
  message(FATAL_ERROR "a library that hides its symbols would have a copy of\n${hidden}give it "
    "[[gnu::visibility(\"default\")]], or say here why each library may have its own")
endif()
if(visible LESS 40)
  message(FATAL_ERROR "only ${visible} variables were recognised")
endif()
