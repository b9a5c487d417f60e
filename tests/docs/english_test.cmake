# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The check of comments finds planted lines, and no others.

cmake_minimum_required(VERSION 3.23)

# Writes one line into a header of plan/, which may have no line to rewrite, and runs the check on it.
function(check line result output)
  file(REMOVE_RECURSE "${SCRATCH}")
  file(WRITE "${SCRATCH}/include/ostraka/plan/spec/spec.hpp"
    "/// The sharding of a tensor: [I_X; J] → a spec.\n${line}\nint n = 0;\n")
  file(WRITE "${SCRATCH}/tests/plan/spec.cpp" "int n = 0;\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${SCRATCH}" -P "${CHECK}" RESULT_VARIABLE status
    OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${result} "${status}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

foreach(line IN ITEMS
    "// What a device holds." "/// Who sends to whom." "  /// Whoever calls it waits." "int a = 0;  // What is left."
    "int a;  ///< Those of a block"
    "/// Of a step." "// A block. Of all kinds." "/// The block → [I_X. What" "// Is it dense?"
    "int a;  ///< is it dense?" "// A part that nobody has, [0, n)."
    "// Nobody waits." "int a;  // for somebody")
  check("${line}" status output)
  string(FIND "${output}" "include/ostraka/plan/ has 1 comment lines to rewrite" position)
  if(status EQUAL 0 OR position EQUAL -1)
    message(SEND_ERROR "not found: ${line}; the check said:\n${output}")
  endif()
endforeach()

foreach(line IN ITEMS
    "" "// Whatsoever is no word of ours, nor is Offal." "// The blocks of what is sent: what the device has."
    "int a = b ? c : d;  // a choice"
    "char const* a = \"Who waits for nobody?\";" "/// Often the mesh axes that divide a label." "int a = nobody;"
    "#include <what>")
  check("${line}" status output)
  if(NOT status EQUAL 0)
    message(SEND_ERROR "found, and there is nothing: ${line}; the check said:\n${output}")
  endif()
endforeach()

# Lines of a folder add up, and brackets and semicolons do not hide or split any.
check("// Is [it one?\n// Of a; list of [two.\n// Is it] three?" status output)
string(FIND "${output}" "include/ostraka/plan/ has 3 comment lines to rewrite" position)
if(status EQUAL 0 OR position EQUAL -1)
  message(SEND_ERROR "three lines are not counted as three; the check said:\n${output}")
endif()
file(REMOVE_RECURSE "${SCRATCH}")
