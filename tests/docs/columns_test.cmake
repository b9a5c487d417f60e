# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The check of columns finds a planted line of 121 characters in every kind of code, counts characters instead of bytes,
# and lets pages, data and the sentences of reasons be longer.

cmake_minimum_required(VERSION 3.23)

# Writes one file with a short line before and behind these lines, beside a file without long ones, and runs the check.
function(check file lines result output)
  file(REMOVE_RECURSE "${SCRATCH}")
  file(WRITE "${SCRATCH}/include/short.hpp" "int n = 0;\n")
  file(WRITE "${SCRATCH}/${file}" "short; [one\n${lines}\n] another; \\\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${SCRATCH}" -P "${CHECK}" RESULT_VARIABLE status
    OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${result} "${status}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

function(finds file lines count)
  check("${file}" "${lines}" status output)
  if(status EQUAL 0 OR NOT output MATCHES " ${count} lines of code go beyond column 120")
    message(SEND_ERROR "${file}: not ${count} long lines found; the check said:\n${output}")
  endif()
endfunction()

function(accepts file lines)
  check("${file}" "${lines}" status output)
  if(NOT status EQUAL 0)
    message(SEND_ERROR "${file}: found, and there is nothing; the check said:\n${output}")
  endif()
endfunction()

string(REPEAT "x" 119 most)
set(kinds .ci/run .ci/compilers .github/workflows/ci.yml .clang-tidy CMakeLists.txt CMakePresets.json bench/gpu/day
  bench/gpu/pack bench/CMakeLists.txt bench/half/half.py cmake/bootstrap.sh cmake/Ostraka.cmake
  cmake/ostraka-config.cmake.in cmake/packaging/spack/package.py docs/make_page.py docs/site/Doxyfile
  examples/first/first.cpp include/ostraka/einsum.hpp include/ostraka/types/reasons/of_trees.hpp
  tests/compile_fail/reason.cpp tests/plan/CMakeLists.txt tests/c/header.h)
foreach(file IN LISTS kinds)
  finds("${file}" "# ${most}" 1)
  accepts("${file}" "#${most}")
endforeach()

# Characters that have a meaning in lists neither hide a line nor make two of it; several are counted.
foreach(part IN ITEMS ";" "[" "]" "\\" "\\;" "\"" "\${a}")
  finds(cmake/a.cmake "${part} ${most}" 1)
  finds(cmake/a.cmake "${most} ${part}" 1)
endforeach()
finds(cmake/a.cmake "${most}; ${most} \\\n[ ${most}\nshort\n${most} ]" 3)

# A character of UTF-8 is a column, of however many bytes.
string(REPEAT "·→𝄞" 40 wide)
accepts(include/ostraka/einsum.hpp "${wide}")
finds(include/ostraka/einsum.hpp "${wide}·" 1)

# What may be longer, and what beside it may not.
set(reason include/ostraka/types/reasons/of_trees.hpp)
accepts(${reason} "  static_assert(never<T>, \"tree: ${most}; ${most}\");\n  static_assert(\n    \"${most} ${most}\");")
finds(${reason} "  static_assert(never<T>, \"tree\", ${most} ${most});" 1)
finds(include/ostraka/trees.hpp "  static_assert(never<T>, \"tree: ${most}\");" 1)
accepts(tests/compile_fail/reason.cpp "// error: ${most}; ${most}")
finds(tests/compile_fail/reason.cpp "// why: ${most}; ${most}" 1)
finds(tests/plan/plan.cpp "// error: ${most}; ${most}" 1)
set(table "// clang-format off\n{${most}, ${most}},\n// clang-format on")
accepts(tests/numbers.hpp "${table}")
finds(tests/numbers.hpp "${table}\n// ${most}" 1)
foreach(file IN ITEMS docs/page.md bench/contractions/cases.txt tests/data.csv build/a.cpp tests/build-1/a.py)
  accepts("${file}" "${most} ${most}")
endforeach()

# A folder without code is refused.
file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}")
execute_process(COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${SCRATCH}" -P "${CHECK}" RESULT_VARIABLE status
  OUTPUT_QUIET ERROR_QUIET)
if(status EQUAL 0)
  message(SEND_ERROR "a folder without code passes")
endif()
file(REMOVE_RECURSE "${SCRATCH}")
