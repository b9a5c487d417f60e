# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DSCRATCH=folder -P train_runs.cmake -- mpiexec -n 8 train
#
# Under every rule set the loss falls, decoding gives the results of the whole model, and the likeliest text is the
# same; one rule set loads what another one saved.

cmake_minimum_required(VERSION 3.23)
include("${CMAKE_CURRENT_LIST_DIR}/after_dashes.cmake")

set(small --width 32 --heads 4 --batch 8 --length 32 --sample 24)

# runs(arguments...): the output in `output`
function(runs)
  execute_process(COMMAND ${command} ${small} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(SEND_ERROR "${ARGN}: ended with ${status}\n${output}${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# trains(arguments...): the loss of the last step in `loss`
function(trains)
  runs(--steps 16 --check ${ARGN})
  if(NOT output MATCHES "step 16, loss ([0-9]+)\\.([0-9][0-9])")
    message(SEND_ERROR "${ARGN}: no loss\n${output}")
  endif()
  message(STATUS "${ARGN}: loss ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
  set(loss ${CMAKE_MATCH_1}${CMAKE_MATCH_2} PARENT_SCOPE)
  string(REGEX MATCHALL "PASS" passes "${output}")
  if(NOT passes STREQUAL "PASS;PASS")
    message(SEND_ERROR "${ARGN}: decoding differs\n${output}")
  endif()
endfunction()

foreach(attention IN ITEMS mha gqa mla)
  set(first "")
  foreach(rules IN ITEMS data fsdp tensor data+tensor fsdp+tensor 2d)
    if(attention STREQUAL mla AND NOT rules MATCHES "^(data|fsdp.tensor)$")
      continue()
    endif()
    if(attention STREQUAL mha AND NOT rules MATCHES "^(fsdp|2d)$")
      continue()
    endif()
    trains(--rules ${rules} --attention ${attention})
    if(NOT first)
      set(first ${loss})
    endif()
    math(EXPR more "${loss} - ${first}")
    if(loss GREATER 500 OR more GREATER 1 OR more LESS -1)
      message(SEND_ERROR "${attention}, ${rules}: the loss after 16 steps is ${loss} hundredths, under the first rules "
        "${first}")
    endif()
  endforeach()
endforeach()

set(file "${SCRATCH}/run.safetensors")
file(MAKE_DIRECTORY "${SCRATCH}")
file(REMOVE "${file}")
runs(--steps 4 --rules fsdp+tensor --save "${file}")
runs(--steps 6 --rules data --load "${file}")
if(NOT output MATCHES "step 5, " OR output MATCHES "step 4, ")
  message(SEND_ERROR "a run that is resumed goes on after the steps that were saved:\n${output}")
endif()
