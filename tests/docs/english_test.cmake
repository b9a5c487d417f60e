# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The check of comments finds planted lines, and no others.

include("${CMAKE_CURRENT_LIST_DIR}/planted_files.cmake")

# Writes the lines into a header of plan/, which may have no line to rewrite, and runs the check on it.
function(require_to_rewrite count lines)
  plant(include/ostraka/plan/spec/spec.hpp "/// The sharding of a tensor: [I_X; J] → a spec.\n${lines}\nint n = 0;\n"
    tests/plan/spec.cpp "int n = 0;\n")
  set(sentence "")
  if(count GREATER 0)
    set(sentence "include/ostraka/plan/ has ${count} comment lines to rewrite")
  endif()
  require_said("${sentence}" "${lines}")
endfunction()

foreach(line IN ITEMS
    "// What a device holds." "/// Who sends to whom." "  /// Whoever calls it waits." "int a = 0;  // What is left."
    "int a;  ///< Those of a block"
    "/// Of a step." "// A block. Of all kinds." "/// The block → [I_X. What" "// Is it dense?"
    "int a;  ///< is it dense?" "// A part that nobody has, [0, n)."
    "// Nobody waits." "int a;  // for somebody")
  require_to_rewrite(1 "${line}")
endforeach()

foreach(line IN ITEMS
    "" "// Whatsoever is no word of ours, nor is Offal." "// The blocks of what is sent: what the device has."
    "int a = b ? c : d;  // a choice"
    "char const* a = \"Who waits for nobody?\";" "/// Often the mesh axes that divide a label." "int a = nobody;"
    "#include <what>")
  require_to_rewrite(0 "${line}")
endforeach()

# Lines of a folder add up, and brackets and semicolons do not hide or split any.
require_to_rewrite(3 "// Is [it one?\n// Of a; list of [two.\n// Is it] three?")
file(REMOVE_RECURSE "${SCRATCH}")
