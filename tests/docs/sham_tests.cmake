# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DSOURCE=... -P sham_tests.cmake
#
# docs/design/gpus.md says how many test programs are marked "// sham:", how many have no mark and so do not run on the
# sham device, and for some of these why.

cmake_minimum_required(VERSION 3.23)

set(marked 0)
set(unmarked "")
foreach(folder IN ITEMS engine experts field files fourier gradient hdf5 local_view operations optimizers surface)
  file(GLOB_RECURSE files RELATIVE "${SOURCE}/tests" "${SOURCE}/tests/${folder}/*.cpp")
  foreach(file IN LISTS files)
    file(STRINGS "${SOURCE}/tests/${file}" mark REGEX "^// (gpu|sham):" LIMIT_COUNT 1)
    if(mark MATCHES "sham")
      math(EXPR marked "${marked} + 1")
    elseif(NOT mark)
      string(REGEX REPLACE "\\.cpp$" "" name "${file}")
      string(REPLACE "/" "." name "${name}")
      list(APPEND unmarked "${name}")
    endif()
  endforeach()
endforeach()
list(LENGTH unmarked others)

file(READ "${SOURCE}/docs/design/gpus.md" page)
set(failures "")
foreach(words IN ITEMS "| ${marked} test programs marked `// sham:` |" "The other ${others} programs do not.")
  string(FIND "${page}" "${words}" position)
  if(position EQUAL -1)
    string(APPEND failures "docs/design/gpus.md does not say: ${words}\n")
  endif()
endforeach()

string(REGEX MATCH "\n\\| test \\| reason \\|\n.*" table "${page}")
string(FIND "${table}" "\n\n" end)
string(SUBSTRING "${table}" 0 ${end} table)
string(REGEX MATCHALL "`[a-z0-9_]+(\\.[a-z0-9_]+)+`" names "${table}")
list(LENGTH names with_reason)
if(with_reason EQUAL 0)
  string(APPEND failures "docs/design/gpus.md has no table of tests and reasons\n")
endif()
foreach(name IN LISTS names)
  string(REPLACE "`" "" name "${name}")
  if(NOT name IN_LIST unmarked)
    string(APPEND failures "docs/design/gpus.md: ${name} runs on the sham device, or does not exist\n")
  endif()
endforeach()
math(EXPR rest "${others} - ${with_reason}")
string(FIND "${page}" "Of these, ${rest} test kernels" position)
if(position EQUAL -1)
  string(APPEND failures "docs/design/gpus.md gives reasons for ${with_reason} of ${others} tests; ${rest} are left\n")
endif()
if(failures)
  message(FATAL_ERROR "${failures}")
endif()
message(STATUS "${marked} test programs run on the sham device, ${others} do not")
