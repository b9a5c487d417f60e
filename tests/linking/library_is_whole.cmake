# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DNM=nm -DOBJECT=vocabulary.o -P library_is_whole.cmake
#
# An object of a program that links ostraka::compiled holds no function of the engine above 300 bytes: the lists of the
# library's contents (compiled_engine.hpp, compiled_operations.hpp and their like) name all functions that are called.
# An entry that matches no call causes no other failure.

cmake_minimum_required(VERSION 3.23)

execute_process(COMMAND "${NM}" -C -S --size-sort -t d "${OBJECT}" OUTPUT_VARIABLE demangled COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${NM}" -S --size-sort -t d "${OBJECT}" OUTPUT_VARIABLE mangled COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "," demangled "${demangled}")
foreach(text IN ITEMS demangled mangled)
  string(REGEX REPLACE "[][]" "" ${text} "${${text}}")
  string(REPLACE "\n" ";" ${text} "${${text}}")
endforeach()

set(found "")
set(functions 0)
foreach(symbol name IN ZIP_LISTS mangled demangled)
  if(NOT symbol MATCHES "^[0-9]+ 0*([0-9]+) [WwTtu] (.*)$")
    continue()
  endif()
  math(EXPR functions "${functions} + 1")
  if(CMAKE_MATCH_1 GREATER 300 AND CMAKE_MATCH_2 MATCHES "^_Z+NK?7ostraka6engine")
    string(REGEX REPLACE "^[0-9]+ 0*" "  " name "${name}")
    string(APPEND found "${name}\n")
  endif()
endforeach()
if(functions LESS 500)
  message(FATAL_ERROR "only ${functions} functions were recognised")
endif()
if(found)
  message(FATAL_ERROR "functions of the engine that ostraka::compiled does not hold, with their bytes:\n${found}list "
    "what calls them in compiled_engine.hpp or the like")
endif()
