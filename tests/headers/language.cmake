# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DCOMPILER=g++ -DINCLUDE_DIR=include -DSCRATCH=folder -P language.cmake
#
# One sentence refuses an older language or an older compiler: it is the first error, and the compiler stops there. The
# compiler's own macros feign an older version.

cmake_minimum_required(VERSION 3.23)

set(older_compiler -std=c++20 -U__GNUC__ -D__GNUC__=11)
if(COMPILER MATCHES "clang")
  set(older_compiler -std=c++20 -U__clang_major__ -D__clang_major__=15)
endif()

# expect(<header> <sentence> <compiler options>...)
function(expect header sentence)
  set(source "${SCRATCH}/${header}.cpp")
  file(WRITE "${source}" "#include <ostraka/${header}.hpp>\nint main() {}\n")
  execute_process(COMMAND "${COMPILER}" ${ARGN} -fsyntax-only "-I${INCLUDE_DIR}" "${source}" RESULT_VARIABLE status
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REPLACE ";" "," first "${output}")
  string(REGEX MATCH "error: [^\n]*" first "${first}")
  string(REGEX MATCHALL "\n" lines "${output}")
  list(LENGTH lines count)
  string(FIND "${first}" "${sentence}" at)
  if(status EQUAL 0 OR at EQUAL -1 OR count GREATER 12)
    message(SEND_ERROR "${header}.hpp with ${ARGN}: the first error has to be \"${sentence}\", and hardly anything "
      "else, but the compiler ended with ${status} and said in ${count} lines\n${output}")
  endif()
endfunction()

foreach(header IN ITEMS plan ostraka local_view operations tree gradient files optimizers experts foresight/search_rules
  foresight/advise_parallelism)
  expect(${header} "ostraka: the language is C++20 or later, compile with -std=c++20" -std=c++17)
endforeach()
foreach(header IN ITEMS plan ostraka)
  expect(${header} "ostraka: the compiler is g++ 12 or clang 16, or a later one, install one" ${older_compiler})
endforeach()
