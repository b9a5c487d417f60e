# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The command that follows "--" on the command line of cmake -P, as the list `command`.

set(command "")
set(found OFF)
foreach(i RANGE ${CMAKE_ARGC})
  if(found AND DEFINED CMAKE_ARGV${i})
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(found ON)
  endif()
endforeach()
