# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DROOT=... -P every_operation.cmake
#
# Every operation is in one of the tests moves*.cpp here, which compare what it says that it moves with what a dry mesh
# counts: its struct in namespace operation, an alias, or its object. Those without a price are listed, with the reason.

cmake_minimum_required(VERSION 3.23)

set(unpriced
  # Only the devices together know how many rows travel, or how the choices fall.
  ragged_all_to_all dropless with_capacity imbalance_of route_rows send_rows return_rows
  # Programs of other operations: the layers and the loss are the program's own.
  pipeline pipeline_loss custom_vjp preduce
  # Only the two meshes tell: os::reshard_plan.
  reshard_to_mesh
  # Steps of derivatives inside of one device, which tests/gradient/rules runs.
  copied_part leave_as_it_came among_halo add_patches add_padded rows_of rows_among_zeros zeros_unless_sent without_rows
  gather_cotangents
  dispatch collect ragged_product
  # Steps of attention with options, whose price has them: whole scores, and the weights beside sinks.
  scored_products weights_beside_sinks
  # Doors of bodies: a tensor is named as a block, and back.
  enter_body leave_body)

file(GLOB_RECURSE headers "${ROOT}/include/ostraka/*.hpp")
set(operations "")
set(text "")
foreach(header IN LISTS headers)
  file(READ "${header}" source)
  if(NOT source MATCHES "namespace (ostraka::)?operation {")
    continue()
  endif()
  string(APPEND text "${source}")
  string(REPLACE ";" "," source "${source}")
  string(REGEX REPLACE "[][]" " " source "${source}")
  string(REGEX REPLACE "\n}  // namespace (ostraka::)?operation\n" ";" parts "${source}")
  foreach(part IN LISTS parts)
    string(FIND "${part}" "operation {\n" begin REVERSE)
    if(begin EQUAL -1)
      continue()
    endif()
    string(SUBSTRING "${part}" ${begin} -1 part)
    string(REGEX MATCHALL "\nstruct [a-z0-9_]+[ <][^,\n{]*{?" found "${part}")
    foreach(line IN LISTS found)
      string(REGEX REPLACE "^\nstruct ([a-z0-9_]+).*" "\\1" name "${line}")
      list(APPEND operations "${name}")
    endforeach()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES operations)

file(GLOB tests "${ROOT}/tests/surface/costs/moves*.cpp")
set(tested "")
foreach(test IN LISTS tests)
  file(READ "${test}" source)
  string(APPEND tested "${source}")
endforeach()

set(failures "")
foreach(operation IN LISTS operations)
  # Its own name, those of aliases, `using argmax = index_of_extreme<…>`, and of objects, `operation::pow pow{}`.
  set(names "${operation}")
  string(REGEX MATCHALL "using [a-z_]+ =[ \n]+[a-z:]*${operation}<" aliases "${text}")
  foreach(alias IN LISTS aliases)
    string(REGEX REPLACE "^using ([a-z_]+) .*" "\\1" name "${alias}")
    if(NOT name STREQUAL "operation")
      list(APPEND names "${name}")
    endif()
  endforeach()
  string(REGEX MATCHALL "constexpr (detail::)?(operation::)?${operation}(<[^;]*>)? [a-z_]+{}" objects "${text}")
  foreach(object IN LISTS objects)
    string(REGEX REPLACE ".* ([a-z_]+){}$" "\\1" name "${object}")
    list(APPEND names "${name}")
  endforeach()
  set(is_tested FALSE)
  foreach(name IN LISTS names)
    if(tested MATCHES "(operation|os)::${name}[^a-z0-9_]")
      set(is_tested TRUE)
    endif()
  endforeach()
  if(operation IN_LIST unpriced)
    if(is_tested)
      string(APPEND failures
        "${operation} is listed as an operation without a price, and has a test: remove it from the list\n")
    endif()
  elseif(NOT is_tested)
    string(APPEND failures
      "${operation} (${names}) is in none of tests/surface/costs/moves*.cpp: compare its price with a dry mesh there\n")
  endif()
endforeach()
foreach(operation IN LISTS unpriced)
  if(NOT operation IN_LIST operations)
    string(APPEND failures "${operation} is listed, and is no operation\n")
  endif()
endforeach()
list(LENGTH operations count)
if(count LESS 120)
  string(APPEND failures "only ${count} operations found: has their form changed?\n")
endif()
if(failures)
  message(FATAL_ERROR "${failures}")
endif()
