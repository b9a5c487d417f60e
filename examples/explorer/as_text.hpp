// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A study as text for a terminal: for each statement a table of its plans, then their steps and the C++ lines.

#include <algorithm>
#include <string>
#include <vector>

#include "code.hpp"
#include "figures.hpp"

namespace explorer {

namespace detail {

inline std::string right(std::string const& s, std::size_t width) {
  std::size_t const shown = planner::detail::width_of(s);
  return std::string(shown < width ? width - shown : 0, ' ') + s;
}

inline std::string table_of(studied_statement const& s, study const& all, std::size_t shown) {
  std::size_t width = 4;
  for (std::size_t i = 0; i < shown; ++i)
    width = std::max(width, planner::detail::width_of(summary_of(s.ways[i].way, s)));
  std::string text = "      " + planner::detail::padded("plan", width) + right("moves", 11) + right("operations", 12) +
                     right("memory", 10);
  if (all.machine) text += right("time", 11) + right("overlapped", 12);
  text += '\n';
  for (std::size_t i = 0; i < shown; ++i) {
    studied_way const& w = s.ways[i];
    text += (static_cast<int>(i) == s.of_default ? " * " : "   ") + right(std::to_string(i + 1), 2) + ' ' +
            planner::detail::padded(summary_of(w.way, s), width) + right(in_bytes(w.bytes), 11) +
            right(in_flops(w.way.flops), 12) + right(in_bytes(w.memory), 10);
    if (all.machine) text += right(in_seconds(w.seconds), 11) + right(in_seconds(w.seconds_overlapped), 12);
    text += '\n';
  }
  return text;
}

inline std::string indented(std::string const& text, std::string const& by) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t const end = std::min(text.find('\n', begin), text.size());
    out += by + text.substr(begin, end - begin) + '\n';
    begin = end + 1;
  }
  return out;
}

}  // namespace detail

/// The text of at most `top` plans of each statement.
inline std::string as_text(study const& all, std::size_t top) {
  std::string text;
  if (!all.mesh.empty())
    text += "mesh " + mesh_text(all.mesh) + ", " + planner::describe_number(all.devices()) + " devices; ";
  text += std::string(all.element.name) + "; figures of one device";
  if (all.machine) text += "; times on " + std::string(all.machine->name.view());
  text += '\n';
  std::int64_t bytes = 0;
  double seconds = 0;
  for (studied_statement const& s : all.statements) {
    text += '\n' + equation_of(s, all.element) + "\n\n";
    if (s.ways.empty()) {
      text += s.kind == planner::statement_kind::operation
                  ? "    " + moves_of_operation(s) + '\n'
                  : "    no plan: more tensors than the planner can multiply\n";
      continue;
    }
    bytes += s.ways[0].bytes;
    seconds += s.ways[0].seconds;
    std::size_t const shown = std::min(top, s.ways.size());
    text += detail::table_of(s, all, shown);
    if (s.of_default >= 0 && static_cast<std::size_t>(s.of_default) >= shown)
      text += "   * the plan of os::einsum by itself is number " + std::to_string(s.of_default + 1) + '\n';
    for (std::size_t i = 0; i < shown; ++i) {
      studied_way const& w = s.ways[i];
      text += "\n  " + std::to_string(i + 1) + '\n' +
              detail::indented(planner::describe(w.way.plan, s.naming(all.element), s.problem.sizes), "    ");
      for (code_line const& l : code_of(w.way, s, all.element)) {
        text += "    C++  " + l.text + '\n';
        if (!l.dynamic.empty()) text += "         " + l.dynamic + "    where extents are not static\n";
      }
    }
    if (shown < s.ways.size())
      text += "\n  " + std::to_string(s.ways.size() - shown) + " more: --top " + std::to_string(s.ways.size()) + '\n';
  }
  bool starred = false;
  for (studied_statement const& s : all.statements) starred = starred || !s.ways.empty();
  if (starred) text += "\n* what os::einsum does by itself, with these declarations:\n";
  if (starred)
    for (std::string const& d : declarations(all)) text += "    " + d + '\n';
  if (all.statements.size() > 1) {
    text += "\nthe first plan of each: " + in_bytes(bytes) + " moved";
    if (all.machine) text += ", " + in_seconds(seconds);
    text += '\n';
  }
  return text;
}

}  // namespace explorer
