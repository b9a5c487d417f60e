# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -P train_priced.cmake -- train
#
# A step under every rule set on 65,536 devices of a dry mesh. The bytes that a device keeps and sends under data
# parallelism and fully sharded match formulas, which know only the model's widths.

cmake_minimum_required(VERSION 3.23)
include("${CMAKE_CURRENT_LIST_DIR}/after_dashes.cmake")

set(width 512)
set(layers 2)
set(devices 65536)
set(model --width ${width} --heads 256 --layers ${layers} --batch 512 --length 8)

# runs(arguments...): the output in `output`
function(runs)
  execute_process(COMMAND ${command} ${model} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ended with ${status}\n${output}${errors}")
  endif()
  message(STATUS "${output}")
  set(output "${output}" PARENT_SCOPE)
endfunction()

# reads(rules): the bytes kept and sent, in `kept` and `sent`
function(reads rules)
  string(REPLACE "+" "\\+" rules "${rules}")
  if(NOT output MATCHES "\n${rules} +[0-9]+x[0-9]+ +([0-9,]+) B +([0-9,]+) B +[0-9,]+ B +[0-9,]+ +[0-9.]+ ms")
    message(FATAL_ERROR "${rules}: no row\n${output}")
  endif()
  string(REPLACE "," "" kept "${CMAKE_MATCH_1}")
  string(REPLACE "," "" sent "${CMAKE_MATCH_2}")
  set(kept ${kept} PARENT_SCOPE)
  set(sent ${sent} PARENT_SCOPE)
endfunction()

# is_about(what found wanted): checks equality but for some bytes
function(is_about what found wanted)
  math(EXPR wanted "${wanted}")
  math(EXPR over "${found} - (${wanted})")
  if(over LESS -256 OR over GREATER 256)
    message(SEND_ERROR "${what} ${found} B, but ${wanted} B were expected\n${output}")
  endif()
endfunction()

# The table and a gain, and in each layer two gains, attention's W^2 for queries, for results, and for keys and values
# together, and three products between W and 3 W.
math(EXPR parameters "4 * (257 * ${width} + ${layers} * (2 * ${width} + 12 * ${width} * ${width}))")

runs(--dry --mesh 512x128)

# Parameters and AdamW's two moments. Gradients are all-reduced by all devices.
reads(data)
is_about("data keeps" ${kept} "3 * ${parameters}")
is_about("data sends" ${sent} "2 * ${parameters} - 2 * ${parameters} / ${devices}")

# A device has one of 512 rows of each parameter. It gathers the others, and scatters their gradients.
reads(fsdp)
is_about("fsdp keeps" ${kept} "3 * ${parameters} / ${width}")
is_about("fsdp sends" ${sent} "2 * ${parameters} / ${width} * (${width} - 1)")

foreach(rules IN ITEMS tensor data+tensor fsdp+tensor 2d)
  reads(${rules})
endforeach()

# Refuses options that it does not understand.
foreach(wrong IN ITEMS "--dry" "--dry --mesh 8x2 --machine abacus" "--dry --mesh 8x2 --node 3")
  separate_arguments(arguments UNIX_COMMAND "${wrong}")
  execute_process(COMMAND ${command} ${arguments} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status EQUAL 1 OR NOT errors MATCHES "^train: ")
    message(SEND_ERROR "${wrong}: ended with ${status}\n${output}${errors}")
  endif()
endforeach()
