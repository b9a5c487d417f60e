# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DSOURCE=. -P check_columns.cmake
#
# Every line of code ends at column 120: C++, CMake, Python, shell and YAML. Pages and data are no code, and three kinds
# of lines have no such end:
#   - the sentence of a reason, include/ostraka/types/reasons/, which is one string, so that it can be searched for;
#   - the same sentence in a test, tests/compile_fail/, after "// error: ";
#   - a table of numbers that a script writes, between "// clang-format off" and "// clang-format on".

cmake_minimum_required(VERSION 3.23)

cmake_path(ABSOLUTE_PATH SOURCE NORMALIZE)
set(columns 120)
math(EXPR more "${columns} + 1")
string(REPEAT "[^\n]" ${more} long)

set(patterns "CMakeLists.txt" "CMakePresets.json" ".clang-tidy")
foreach(folder IN ITEMS .ci .github bench cmake docs examples include tests)
  foreach(ending IN ITEMS hpp h cpp cmake cmake.in py sh yml yaml)
    list(APPEND patterns "${folder}/*.${ending}")
  endforeach()
  list(APPEND patterns "${folder}/CMakeLists.txt" "${folder}/Doxyfile")
endforeach()
list(TRANSFORM patterns PREPEND "${SOURCE}/")
file(GLOB_RECURSE files RELATIVE "${SOURCE}" ${patterns})
file(GLOB scripts RELATIVE "${SOURCE}" "${SOURCE}/.ci/*" "${SOURCE}/bench/gpu/day" "${SOURCE}/bench/gpu/pack")
list(APPEND files ${scripts})
list(REMOVE_DUPLICATES files)
list(FILTER files EXCLUDE REGEX "(^|/)build[^/]*/")

# columns_of(<line> <result>): its number of characters; in UTF-8, a byte from 80 to bf continues one.
function(columns_of line result)
  string(HEX "${line}" bytes)
  string(REGEX REPLACE "(..)" "\\1 " bytes "${bytes}")
  string(REGEX REPLACE "[89ab]. " "" bytes "${bytes}")
  string(LENGTH "${bytes}" count)
  math(EXPR count "${count} / 3")
  set(${result} ${count} PARENT_SCOPE)
endfunction()

set(found 0)
foreach(file IN LISTS files)
  file(STRINGS "${SOURCE}/${file}" some LENGTH_MINIMUM ${more} LIMIT_COUNT 1 ENCODING UTF-8)
  if(some STREQUAL "")
    continue()
  endif()
  file(READ "${SOURCE}/${file}" text)
  # Characters that have a meaning in lists.
  string(REGEX REPLACE "[][;\\]" "|" text "${text}")
  if(file MATCHES "^include/ostraka/types/reasons/")
    string(REGEX REPLACE "\"[^\"\n]*\"" "" text "${text}")
  elseif(file MATCHES "^tests/compile_fail/")
    string(REGEX REPLACE "\n// error: [^\n]*" "" text "${text}")
  endif()
  string(REGEX REPLACE "\n// clang-format off.*\n// clang-format on" "" text "${text}")
  string(REGEX MATCHALL "${long}[^\n]*" lines "${text}")
  foreach(line IN LISTS lines)
    columns_of("${line}" count)
    if(count GREATER columns)
      string(STRIP "${line}" line)
      string(SUBSTRING "${line}" 0 80 line)
      message(NOTICE "${file}: ${count} columns: ${line}…")
      math(EXPR found "${found} + 1")
    endif()
  endforeach()
endforeach()

list(LENGTH files seen)
if(seen EQUAL 0)
  message(FATAL_ERROR "no code in ${SOURCE}")
elseif(found)
  message(FATAL_ERROR "${found} lines of code go beyond column ${columns}: wrap them (cmake/check_columns.cmake)")
endif()
message(STATUS "${seen} files, no line of code has more than ${columns} columns")
