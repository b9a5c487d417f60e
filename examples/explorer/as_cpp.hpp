// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A study as a C++ file: a function for each plan, with the lines that select the plan, and assertions about it.

#include <algorithm>
#include <string>
#include <vector>

#include "code.hpp"
#include "figures.hpp"

namespace explorer {

/// The C++ text of at most `top` plans of each statement.
inline std::string as_cpp(study const& all, std::size_t top) {
  std::string text =
      "// Made by ostraka-plan: each function has the plan that is named above it.\n\n"
      "#include <ostraka/ostraka.hpp>\n\nnamespace os = ostraka;\n\n";
  for (std::string const& d : declarations(all)) text += d + '\n';
  int number = 0;
  for (studied_statement const& s : all.statements) {
    ++number;
    for (std::size_t i = 0; i < std::min(top, s.ways.size()); ++i) {
      studied_way const& w = s.ways[i];
      text += "\n// " + equation_of(s, all.element) + ": " + summary_of(w.way, s) + ", " + in_bytes(w.bytes) +
              " a device\ninline auto statement_" + std::to_string(number) + "_plan_" + std::to_string(i + 1) + '(';
      for (int k = 0; k < s.problem.operands.size(); ++k) {
        auto const name = s.tensors.begin() + k;
        if (std::find(s.tensors.begin(), name, *name) != name) continue;  // it is already taken
        spec const& o = s.problem.operands[k];
        std::string const dims = detail::dims_of(o, s, &s.axes_above[static_cast<std::size_t>(k)]);
        text += std::string(k > 0 ? ", " : "") + "os::tensor<" + std::string(all.element.code) +
                (dims.empty() ? "" : ", ") + dims + "> const& " + detail::variable_of(*name, s);
      }
      text += ") {\n";
      std::vector<code_line> const lines = code_of(w.way, s, all.element);
      for (code_line const& l : lines)
        text += "  static_assert(decltype(" + l.checked + ")::bytes() == " + std::to_string(l.bytes) + ");\n  " +
                l.text + '\n';
      text += "  return " + detail::variable_of(s.tensors.back(), s) + ";\n}\n";
    }
  }
  return text;
}

}  // namespace explorer
