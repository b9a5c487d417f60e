# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DSAYS=regex [-DTIMES=n] [-DNEVER=regex] [-DGOES_ON=ON] [-DWITHIN=ms] -P ends.cmake -- mpiexec -n 4 scenarios
#     throws
#
# The job prints what it has to, n times, and nothing that it must not, and then continues to its end; or it fails,
# within five seconds, or the given milliseconds, of the moment that the culprit printed.

cmake_minimum_required(VERSION 3.23)
include("${CMAKE_CURRENT_LIST_DIR}/../examples/after_dashes.cmake")

string(TIMESTAMP begin "%s%f" UTC)
execute_process(COMMAND ${command} TIMEOUT 60 RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(TIMESTAMP end "%s%f" UTC)

if(output MATCHES "at ([0-9]+) us")
  set(begin "${CMAKE_MATCH_1}")
endif()
math(EXPR milliseconds "(${end} - ${begin}) / 1000")
string(REPLACE ";" "," read "${output}")  # a list has semicolons of its own
# Open MPI 6 says this whenever a program aborts; it is no crash.
string(REPLACE "terminated by signals sent by prterun (as reported here)" "" read "${read}")
string(REGEX MATCHALL "${SAYS}" found "${read}")
list(LENGTH found count)

if(NOT WITHIN)
  set(WITHIN 5000)
endif()
set(wrong "")
if(GOES_ON)
  if(NOT status EQUAL 0)
    string(APPEND wrong "ended with ${status}, should go on; ")
  endif()
else()
  if(status EQUAL 0)
    string(APPEND wrong "ended with 0, should fail; ")
  endif()
  if(milliseconds GREATER WITHIN)
    string(APPEND wrong "took more than ${WITHIN} ms; ")
  endif()
endif()
if(count EQUAL 0 OR (TIMES AND NOT count EQUAL TIMES))
  string(APPEND wrong "said ${count} times, not ${TIMES}: ${SAYS}; ")
endif()
if(NEVER AND read MATCHES "${NEVER}")
  string(APPEND wrong "must not say: ${NEVER}; ")
endif()
message(NOTICE "${milliseconds} ms, status ${status}\n${output}")
if(wrong)
  message(FATAL_ERROR "${wrong}")
endif()
