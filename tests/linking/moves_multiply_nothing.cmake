# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DNM=nm -DOBJECT=moves.o -P moves_multiply_nothing.cmake
#
# An object of a header-only program that only moves and sums holds runs of plans, and no products, which would take the
# compiler as long as all the rest (plan/lowering/kinds.hpp).

cmake_minimum_required(VERSION 3.23)

execute_process(COMMAND "${NM}" -C "${OBJECT}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "ostraka::engine::running<")
  message(FATAL_ERROR "the object holds no run of a plan")
endif()
string(REPLACE ";" "," symbols "${symbols}")
string(REGEX REPLACE "[][]" "" symbols "${symbols}")
string(REPLACE "\n" ";" symbols "${symbols}")
list(FILTER symbols INCLUDE REGEX "contract_in_tiles|contract_portable|sum_of_products|multiply_by_library| U cblas_")
if(symbols)
  list(JOIN symbols "\n  " symbols)
  message(FATAL_ERROR "a program that multiplies nothing holds products:\n  ${symbols}")
endif()
