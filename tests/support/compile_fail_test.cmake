# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The compile-fail check passes a file that keeps its promise and fails each way of breaking it.

cmake_minimum_required(VERSION 3.23)

function(check name expected_sentence text)
  set(file "${SCRATCH}/${name}.cpp")
  file(WRITE "${file}" "${text}\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${COMPILER}" "-DSOURCE=${file}" "-DINCLUDE_DIR=${SCRATCH}"
    -P "${CHECK}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")  # CMake breaks long lines
  string(FIND "${output}" "${expected_sentence}" position)
  if(expected_sentence AND (status EQUAL 0 OR position EQUAL -1))
    message(SEND_ERROR "${name}: expected the sentence \"${expected_sentence}\"; the check ended with ${status} and "
      "said:\n${output}")
  elseif(NOT expected_sentence AND NOT status EQUAL 0)
    message(SEND_ERROR "${name}: expected to pass; the check said:\n${output}")
  endif()
endfunction()

set(function
  "template <class T> void f() { static_assert(sizeof(T) == 1, \"einsum: J [X] is split; \" \"gather it\"); }\n")
function(mistake result line)
  set(${result} "#ifdef SHOULD_FAIL\n${line};\n#endif\n" PARENT_SCOPE)
endfunction()
mistake(wrong "template void f<int>()")
mistake(wrong_again "template void f<long>()")
mistake(right "template void f<char>()")
mistake(undeclared "int x = y")

check(kept "" "// error: einsum: J [X] is split; gather\n// error: gather it\n${function}${wrong}")
check(other_text "the output lacks: split thrice"
  "// error: einsum: J [X]\n// error: split thrice\n${function}${wrong}")
check(echoed_source "the output lacks: class T" "// error: einsum\n// error: class T\n${function}${wrong}")
check(compiles "the mistake compiles" "// error: einsum\n${function}${right}")
check(two_errors "static assertions that failed: 2" "// error: einsum\n${function}${wrong}${wrong_again}")
check(another_error "errors: 2, expected 1" "// error: einsum\n${function}${wrong}${undeclared}")
check(broken_control "the control does not compile" "// error: einsum\nint x = y;\n${function}${wrong}")
check(no_text "so nothing would be checked" "${function}${wrong}")
check(no_mistake "has no" "// error: einsum\n${function}")
