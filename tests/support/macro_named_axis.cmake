# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DCOMPILER=g++ -DSCRATCH=folder -DINCLUDE_DIR=include -P macro_named_axis.cmake
#
# An axis whose name is a macro is refused by a sentence, at namespace scope and in a function; behind #undef it is
# declared.

cmake_minimum_required(VERSION 3.23)

function(check name expected program)
  set(file "${SCRATCH}/${name}.cpp")
  file(WRITE "${file}"
    "#include <ostraka/plan.hpp>\n#define I (__extension__ 1.0iF)  // as C's <complex.h>\n${program}\n")
  execute_process(COMMAND "${COMPILER}" -std=c++20 -fsyntax-only -fmessage-length=0 "-I${INCLUDE_DIR}" "${file}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "axis: the name of an axis is no macro's" position)
  if(expected AND (status EQUAL 0 OR position EQUAL -1))
    message(SEND_ERROR "${name}: no sentence; the compiler ended with ${status} and said:\n${output}")
  elseif(NOT expected AND NOT status EQUAL 0)
    message(SEND_ERROR "${name}: should compile; the compiler said:\n${output}")
  endif()
endfunction()

check(of_namespace TRUE "OSTRAKA_AXIS(I);")
check(of_mesh TRUE "OSTRAKA_MESH_AXIS(I, 4);")
check(of_function TRUE "void f() { OSTRAKA_AXIS(I, 8); }")
check(undefined FALSE "#undef I\nOSTRAKA_AXIS(I);\nstatic_assert(I_axis::name == \"I\");")
check(another_name FALSE "OSTRAKA_AXIS(J, 3);\nvoid f() { OSTRAKA_MESH_AXIS(X); }")
