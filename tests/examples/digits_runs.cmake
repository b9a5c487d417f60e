# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -P digits_runs.cmake -- mpiexec -n 8 digits
#
# The program reads more than 95 % of the digits that it has not seen, one device agrees, and only device 0 prints.

cmake_minimum_required(VERSION 3.23)
include("${CMAKE_CURRENT_LIST_DIR}/after_dashes.cmake")

execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
message(NOTICE "${output}${errors}")
if(NOT status EQUAL 0)
  message(SEND_ERROR "ended with ${status}")
endif()
foreach(line IN ITEMS "Held-out accuracy: (9[5-9]|100)\\.[0-9]+ %" "The same on one device: [^\n]*: PASS"
  "All devices together moved [0-9.]+ MB" "moves [0-9,]+ B per device"
    "classes  double.N_X, K. of 1438 × 10")
  if(NOT output MATCHES "${line}")
    message(SEND_ERROR "the output lacks: ${line}")
  endif()
endforeach()
string(REGEX MATCHALL "Held-out accuracy" speakers "${output}")
list(LENGTH speakers speaker_count)
if(NOT speaker_count EQUAL 1)
  message(SEND_ERROR "${speaker_count} devices speak")
endif()
