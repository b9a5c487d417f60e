# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The check of columns finds a planted line of 121 characters in every kind of code, counts characters instead of bytes,
# and lets pages, data and the sentences of reasons be longer.

include("${CMAKE_CURRENT_LIST_DIR}/planted_files.cmake")

# Writes one file with a short line before and behind these lines, beside a file without long ones.
function(plant_lines file lines)
  plant(include/short.hpp "int n = 0;\n" "${file}" "short; [one\n${lines}\n] another; \\\n")
endfunction()

function(finds file lines count)
  plant_lines("${file}" "${lines}")
  require_said(" ${count} lines of code go beyond column 120" "${file}: ${count} lines")
endfunction()

function(accepts file lines)
  plant_lines("${file}" "${lines}")
  require_said("" "${file}")
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
require_said("no code in " "a folder without code")
file(REMOVE_RECURSE "${SCRATCH}")
