// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A study as JSON, for tools. Bytes, operations and memory are those of one device; seconds are present if a machine
/// was named.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "code.hpp"
#include "figures.hpp"

namespace explorer {

/// `"text"`, escaped for JSON; bytes that are not UTF-8 become question marks.
inline std::string quoted(std::string_view s) {
  std::string text = "\"";
  for (std::size_t i = 0; i < s.size(); ++i) {
    auto const c = static_cast<unsigned char>(s[i]);
    std::size_t const follow = c < 0x80                ? 0
                               : c >= 0xC2 && c < 0xE0 ? 1
                               : c >= 0xE0 && c < 0xF0 ? 2
                               : c >= 0xF0 && c < 0xF5 ? 3
                                                       : 9;
    bool whole = follow < 9 && i + follow < s.size();
    for (std::size_t k = 1; whole && k <= follow; ++k) whole = (static_cast<unsigned char>(s[i + k]) & 0xC0) == 0x80;
    if (c == '"' || c == '\\')
      text += '\\', text += s[i];
    else if (c == '\n')
      text += "\\n";
    else if (c < 32 || c == 127) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      text += escape;
    } else if (!whole) {
      text += '?';
    } else {
      text += s.substr(i, follow + 1);
      i += follow;
    }
  }
  return text + '"';
}

namespace detail {

inline std::string number_or_null(double n) {
  if (!std::isfinite(n)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", n);
  return text;
}

inline std::string object_of(std::vector<named_size> const& sizes) {
  std::string text = "{";
  for (named_size const& s : sizes)
    text += (text.size() > 1 ? ", " : "") + quoted(s.name) + ": " + std::to_string(s.size);
  return text + '}';
}

inline std::string steps_as_json(studied_way const& w, studied_statement const& s, study const& all) {
  std::string text = "[";
  tensor_names names(s);
  for (int i = 0; i < w.way.plan.steps.size(); ++i) {
    planner::planned_step const& p = w.way.plan.steps[i];
    names.after(p);
    extents const& e = s.problem.sizes;
    text += std::string(i > 0 ? ",\n        " : "\n        ") + "{\"step\": " + quoted(planner::name_of(p.kind)) +
            ", \"tensor\": " + quoted(names.of(p.operand)) +
            ", \"over\": " + quoted(ostraka::contracts(p.kind) ? "" : names_of_axes(p.axes, s)) +
            ", \"to\": " + quoted(planner::describe(p.to, s.naming(all.element))) + ", \"bytes\": " +
            std::to_string(planner::bytes_per_device(planner::elements_moved(p, e), all.element.bytes, e));
    if (!w.timeline.empty()) {
      timed_step const& t = w.timeline[static_cast<std::size_t>(i)];
      text += ", \"begin\": " + number_or_null(t.begin) + ", \"seconds\": " + number_or_null(t.seconds);
    }
    text += '}';
  }
  return text + ']';
}

inline std::string way_as_json(std::size_t i, studied_statement const& s, study const& all) {
  studied_way const& w = s.ways[i];
  std::string text = "{\"summary\": " + quoted(summary_of(w.way, s)) +
                     ", \"default\": " + (static_cast<int>(i) == s.of_default ? "true" : "false") +
                     ", \"bytes\": " + std::to_string(w.bytes) + ", \"flops\": " + std::to_string(w.way.flops) +
                     ", \"memory\": " + std::to_string(w.memory);
  if (all.machine)
    text += ", \"seconds\": " + number_or_null(w.seconds) +
            ", \"seconds_overlapped\": " + number_or_null(w.seconds_overlapped);
  text += ",\n      \"cpp\": [";
  std::vector<code_line> const lines = code_of(w.way, s, all.element);
  for (std::size_t k = 0; k < lines.size(); ++k) text += (k > 0 ? ", " : "") + quoted(lines[k].text);
  text += "], \"cpp_of_dynamic_extents\": " + (lines[0].dynamic.empty() ? "null" : quoted(lines[0].dynamic));
  return text + ",\n      \"steps\": " + steps_as_json(w, s, all) + '}';
}

}  // namespace detail

/// The JSON text of at most `top` plans of each statement, best first.
inline std::string as_json(study const& all, std::size_t top) {
  std::string text = "{\"mesh\": " + detail::object_of(all.mesh) + ", \"sizes\": " + detail::object_of(all.sizes) +
                     ", \"type\": " + quoted(all.element.name) +
                     ", \"machine\": " + (all.machine ? quoted(all.machine->name.view()) : "null") +
                     ",\n \"declarations\": [";
  std::vector<std::string> const d = declarations(all);
  for (std::size_t i = 0; i < d.size(); ++i) text += (i > 0 ? ", " : "") + quoted(d[i]);
  text += "],\n \"statements\": [";
  for (std::size_t i = 0; i < all.statements.size(); ++i) {
    studied_statement const& s = all.statements[i];
    text += std::string(i > 0 ? ",\n  " : "\n  ") + "{\"statement\": " + quoted(equation_of(s, all.element)) +
            ", \"plans_found\": " + std::to_string(s.ways.size()) + ", \"plans\": [";
    for (std::size_t k = 0; k < std::min(top, s.ways.size()); ++k)
      text += std::string(k > 0 ? ",\n     " : "\n     ") + detail::way_as_json(k, s, all);
    text += "]}";
  }
  return text + "]}\n";
}

}  // namespace explorer
