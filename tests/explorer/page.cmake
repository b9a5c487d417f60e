# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DEXPLORER=ostraka-plan -DSCRATCH=folder -DBROWSER=chromium -P page.cmake
#
# The page in a real browser: its script runs, and marks the blocks of the device that the address names.

cmake_minimum_required(VERSION 3.23)
file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}")
set(page "${SCRATCH}/layer.html")
execute_process(COMMAND "${EXPLORER}"
  "h[B_X,S,M_Y] up[M_X,H_Y] -> a[B_X,S,H_Y]; gelu(a) -> g[B_X,S,H_Y]; g down[H_Y,M_X] -> y[B_X,S,M_Y]"
  --mesh X=2,Y=32 --sizes B=128,S=512,M=4096,H=16384 --machine tpu_v5p --html "${page}" RESULT_VARIABLE status
  ERROR_VARIABLE complaint)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "ended with ${status} and said:\n${complaint}")
endif()
file(READ "${page}" text)
foreach(foreign IN ITEMS "http:" "https:" "src=" "@import" "url(")
  string(FIND "${text}" "${foreign}" at)
  if(NOT at EQUAL -1)
    message(SEND_ERROR "the page asks for something else: ${foreign}")
  endif()
endforeach()

if(NOT BROWSER)
  message(STATUS "SKIPPED: no chromium, so no browser has opened the page of ostraka-plan --html; apt-get install "
    "chromium, and run the tests again")
  return()
endif()
execute_process(COMMAND "${BROWSER}" --headless --no-sandbox --disable-gpu
  --disable-dev-shm-usage "--user-data-dir=${SCRATCH}/profile" --dump-dom
  "file://${page}#X=1,Y=20" TIMEOUT 90 RESULT_VARIABLE status OUTPUT_VARIABLE dom ERROR_VARIABLE complaint)
file(WRITE "${SCRATCH}/dom.html" "${dom}")
string(LENGTH "${dom}" length)
if(length EQUAL 0)
  message(STATUS "SKIPPED: ${BROWSER} did not run (${status}):\n${complaint}")
  return()
endif()

function(shows pattern)
  if(NOT dom MATCHES "${pattern}")
    message(SEND_ERROR "the browser shows no ${pattern}; what it shows is in ${SCRATCH}/dom.html")
  endif()
endfunction()

shows("<html lang=\"en\" data-ready=\"yes\">")
shows("<output>20</output>")
string(REGEX MATCHALL "<svg class=\"tensor\"" pictures "${dom}")
list(LENGTH pictures count)
if(NOT count EQUAL 8)  # three tensors, two, three
  message(SEND_ERROR "${count} pictures, not 8")
endif()
# The page draws eight cells for 32 blocks, the seventh for blocks 6 to 30, number 20 among them; one cell of each
# tensor is marked.
string(REGEX MATCHALL "class=\"cell on\"[^>]*>" marked "${dom}")
list(LENGTH marked count)
if(NOT count EQUAL 8)
  message(SEND_ERROR "${count} blocks are marked, not 8: ${marked}")
endif()
foreach(cell IN LISTS marked)
  if(NOT cell MATCHES "(data-row=\"1-1\" data-column=\"6-30\"|data-row=\"6-30\" data-column=\"1-1\")")
    message(SEND_ERROR "another block is marked: ${cell}")
  endif()
endforeach()
shows("<svg class=\"timeline\"")
shows("all_gather h over Y")
shows("<pre>auto [a-z_]+ = os::(einsum|reshard)&lt;")
