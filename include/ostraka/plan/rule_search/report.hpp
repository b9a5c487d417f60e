// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The result of the search for rules as text: a table of the best sets, and for each the lines to paste.
///
///     constexpr os::rules<batch/X, rows/X, inner/Y, heads/Y> R;

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <ostraka/plan/rule_search/rule_search.hpp>

namespace ostraka::planner {

namespace detail {

// The number in the largest of these units in which it is 1 or more. Each unit is `step` times the previous one.
template <std::size_t N>
[[nodiscard]] std::string with_unit(double n, char const* const (&units)[N], double step) {
  std::size_t u = 0;
  for (; n >= step && u + 1 < N; ++u) n /= step;
  char text[32];
  std::snprintf(text, sizeof(text), n < 10 ? "%.2f %s" : n < 100 ? "%.1f %s" : "%.0f %s", n, units[u]);
  return text;
}

// Appends an item to a list.
inline void append(std::string& list, char const* separator, std::string const& next) {
  if (!list.empty()) list += separator;
  list += next;
}

// An axis and the mesh axes that divide it: batch/X/Y.
[[nodiscard]] inline std::string describe_rule(std::string name, mesh_order over, device_mesh const& mesh) {
  for (int i = 0; i < over.size(); ++i) {
    name += '/';
    name += mesh.names[static_cast<std::size_t>(over[i])];
  }
  return name;
}

[[nodiscard]] inline std::string name_of_set(mesh_set s, device_mesh const& mesh) {
  std::string text;
  for (int m = 0; m < mesh.axes(); ++m)
    if (s.contains(m)) append(text, "·", mesh.names[static_cast<std::size_t>(m)]);
  return text;
}

// The width in characters; some characters take several bytes.
[[nodiscard]] inline std::size_t width_of(std::string const& text) {
  std::size_t n = 0;
  for (char c : text) n += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return n;
}

// The name of an axis as a C++ identifier: "of group" is of_group.
[[nodiscard]] inline std::string identifier(std::string name) {
  for (char& c : name)
    if (c == ' ' || c == '-') c = '_';
  return name;
}

}  // namespace detail

/// "3.41 ms"
[[nodiscard]] inline std::string describe_seconds(double seconds) {
  return seconds <= 0 ? "0" : detail::with_unit(1e6 * seconds, {"µs", "ms", "s"}, 1e3);
}
/// "1.50 GB"
[[nodiscard]] inline std::string describe_memory(double bytes) {
  return bytes <= 0 ? "0" : detail::with_unit(bytes, {"B", "KB", "MB", "GB"}, 1e3);
}

/// The part of a step that takes the most time: "computing", or communication, as "moves over X".
[[nodiscard]] inline std::string bound_by(ranked_rules const& r) {
  std::string most = "computing";
  double seconds = r.computing;
  for (std::size_t set = 1; set < r.seconds_over.size(); ++set)
    if (r.seconds_over[set] > seconds) {
      seconds = r.seconds_over[set];
      most = "moves over ";
      most += detail::name_of_set({static_cast<std::uint32_t>(set)}, r.mesh);
    }
  return most;
}

/// The rules as a program writes them, for os::rules (types/shardings/logical_axes.hpp): one line, or one for each set
/// of rules that the program's axes name.
[[nodiscard]] inline std::string line_to_paste(program const& p, ranked_rules const& r) {
  std::vector<std::string> sets;
  std::vector<std::string> rules;
  for (std::size_t a = 0; a < p.axes.size(); ++a) {
    std::size_t s = 0;
    while (s < sets.size() && sets[s] != p.axes[a].rule_set) ++s;
    if (s == sets.size()) {
      sets.push_back(p.axes[a].rule_set);
      rules.emplace_back();
    }
    if (!r.rules[a].empty())
      detail::append(rules[s], ", ", detail::describe_rule(detail::identifier(p.axes[a].name), r.rules[a], r.mesh));
  }
  std::string text;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    if (s > 0) text += '\n';
    if (sets[s].empty()) {
      text += "constexpr os::rules<";
      text += rules[s];
      text += "> R;";
    } else {
      text += "using ";
      text += detail::identifier(sets[s]);
      text += " = os::rules<";
      text += rules[s];
      text += ">;";
    }
  }
  return text;
}

/// The mesh as a program makes it: "os::make_mesh(X = 4, Y = 2)".
[[nodiscard]] inline std::string describe(device_mesh const& mesh) {
  std::string text = "os::make_mesh(";
  for (std::size_t i = 0; i < mesh.sizes.size(); ++i) {
    if (i > 0) text += ", ";
    text += mesh.names[i];
    text += " = ";
    text += std::to_string(mesh.sizes[i]);
  }
  text += ')';
  return text;
}

/// The result of a search: a row for each set of rules, the best first, and the best one as lines to paste.
[[nodiscard]] inline std::string describe(program const& p, search_result const& found) {
  if (found.ranked.empty()) {
    std::string text = p.name;
    detail::append(text, ": ", "no rules fit into ");
    text += describe_memory(found.memory_bytes);
    text += " a device; they need at least ";
    text += describe_memory(found.least_memory);
    text += '\n';
    return text;
  }
  std::vector<std::vector<std::string>> rows{
      {"time", "computing", "moving", "memory", "bound by", "kept", "mesh", "rules"}};
  for (ranked_rules const& r : found.ranked) {
    std::string moving;
    for (std::size_t set = 1; set < r.seconds_over.size(); ++set)
      if (r.seconds_over[set] > 0) {
        detail::append(moving, ", ", detail::name_of_set({static_cast<std::uint32_t>(set)}, r.mesh));
        detail::append(moving, " ", describe_seconds(r.seconds_over[set]));
      }
    std::string mesh;
    for (std::int64_t n : r.mesh.sizes) detail::append(mesh, "×", std::to_string(n));
    std::string rules;
    for (std::size_t a = 0; a < p.axes.size(); ++a)
      if (!r.rules[a].empty()) detail::append(rules, ", ", detail::describe_rule(p.axes[a].name, r.rules[a], r.mesh));
    if (rules.empty()) rules = "none";
    rows.push_back({describe_seconds(r.seconds), describe_seconds(r.computing), moving.empty() ? "0" : moving,
                    describe_memory(r.memory.total()), bound_by(r), name_of(r.kept), mesh, rules});
  }
  std::vector<std::size_t> widths(rows[0].size());
  for (auto const& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], detail::width_of(row[c]));
  std::string text = p.name;
  if (!text.empty()) text += '\n';
  for (auto const& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += row[c];
      if (c + 1 < row.size()) text.append(widths[c] - detail::width_of(row[c]) + 2, ' ');
    }
    text += '\n';
  }
  ranked_rules const& best = found.ranked.front();
  text += "\nauto const mesh = ";
  text += describe(best.mesh);
  text += ";\n";
  text += line_to_paste(p, best);
  text += '\n';
  return text;
}

}  // namespace ostraka::planner
