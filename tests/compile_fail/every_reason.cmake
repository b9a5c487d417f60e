# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DROOT=... -P every_reason.cmake
#
# Every reason of types/reasons/ has a test of its name here and an entry in docs/errors.md, every test is of a reason,
# and no sentence has a character that a compiler would garble.

cmake_minimum_required(VERSION 3.23)

set(folder "${ROOT}/include/ostraka/types/reasons")
file(GLOB headers "${folder}/of_*.hpp")
set(lines "")
set(failures "")
foreach(header IN LISTS headers)
  file(STRINGS "${header}" more REGEX "^struct [a-z0-9_]+ {" ENCODING UTF-8)
  list(APPEND lines ${more})
  file(STRINGS "${header}" more REGEX "static_assert" ENCODING UTF-8)
  foreach(sentence IN LISTS more)
    if(NOT sentence MATCHES "^[ -~]*$")
      string(APPEND failures "not ASCII: ${sentence}\n")
    endif()
  endforeach()
endforeach()
file(READ "${ROOT}/docs/errors.md" page)
set(reasons "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^struct ([a-z0-9_]+) .*" "\\1" reason "${line}")
  if(reason STREQUAL "ok")
    continue()
  endif()
  list(APPEND reasons "${reason}")
  if(NOT EXISTS "${ROOT}/tests/compile_fail/${reason}.cpp")
    string(APPEND failures "${reason} has no test tests/compile_fail/${reason}.cpp\n")
  endif()
  string(FIND "${page}" "\n### ${reason}\n" position)
  if(position EQUAL -1)
    string(APPEND failures "${reason} has no entry in docs/errors.md; docs/make_errors_page.py writes it\n")
  endif()
endforeach()
list(LENGTH reasons count)
if(count LESS 40)
  string(APPEND failures "only ${count} reasons found in ${folder}: has its form changed?\n")
endif()

file(GLOB tests "${ROOT}/tests/compile_fail/*.cpp")
foreach(test IN LISTS tests)
  cmake_path(GET test STEM reason)  # up to the first dot
  if(NOT reason IN_LIST reasons)
    string(APPEND failures "${test} tests no reason of ${folder}\n")
  endif()
  file(READ "${test}" source)
  foreach(needed IN ITEMS "\n// when: " "\n#ifdef SHOULD_FAIL\n" "\n#else\n" "\n#endif\n")
    string(FIND "${source}" "${needed}" position)
    if(position EQUAL -1)
      string(STRIP "${needed}" needed)
      string(APPEND failures "${test} lacks: ${needed}\n")
    endif()
  endforeach()
endforeach()

if(failures)
  message(FATAL_ERROR "${failures}")
endif()
