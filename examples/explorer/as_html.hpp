// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A study as one page: shardings as pictures, plans ranked, each with its timeline, steps and C++ lines. It needs no
/// other file and no network.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "code.hpp"
#include "drawing.hpp"
#include "figures.hpp"
#include "page.hpp"

namespace explorer {

namespace detail {

// Without a machine, a step takes the planner's cost: multiplications, and a fixed number of them per element moved.
inline studied_way with_times(studied_way w, studied_statement const& s, bool timed) {
  if (timed) return w;
  extents const& e = s.problem.sizes;
  planner::tensor_states tensors(w.way.plan);
  double now = 0;
  for (planner::planned_step const& p : w.way.plan.steps) {
    double took = 0;
    if (ostraka::communicates(p.kind))
      took = planner::multiplications_per_element * static_cast<double>(planner::elements_moved(p, e)) /
             static_cast<double>(e.devices());
    else if (ostraka::contracts(p.kind))
      took = static_cast<double>(planner::detail::products_of(
          tensors.of(p.left), p.right == planner::no_tensor ? nullptr : &tensors.of(p.right), e));
    w.timeline.push_back({now, took});
    now += took;
    tensors.after(p);
  }
  return w;
}

inline double length_of(studied_way const& w) {
  return w.timeline.empty() ? 0 : w.timeline.back().begin + w.timeline.back().seconds;
}

inline std::string figure_of(spec const& t, std::string const& name, studied_statement const& s, study const& all) {
  extents const& e = s.problem.sizes;
  return "<figure>" + picture_of(t, s, all.element) + "<figcaption>" +
         escaped(name + planner::describe(t, s.naming(all.element))) + "<small>" +
         escaped(in_bytes(held_at_most(t, e) * all.element.bytes)) +
         " a device</small></figcaption></figure>";
}

inline std::string steps_of(studied_way const& w, studied_statement const& s, study const& all) {
  std::string text = "<table class=\"steps\">";
  tensor_names names(s);
  extents const& e = s.problem.sizes;
  planner::naming const n = s.naming(all.element);
  for (planner::planned_step const& p : w.way.plan.steps) {
    bool const moves = ostraka::communicates(p.kind), works = ostraka::contracts(p.kind);
    std::string from = names.of(p.operand) + planner::describe(p.from, n);
    if (works) from = names.of(p.left) + (p.right == planner::no_tensor ? "" : " · " + names.of(p.right));
    names.after(p);
    std::string figure;
    if (moves) figure = in_bytes(planner::bytes_per_device(planner::elements_moved(p, e), all.element.bytes, e));
    if (all.machine && (moves || works)) {
      double const seconds = w.timeline[static_cast<std::size_t>(&p - w.way.plan.steps.begin())].seconds;
      figure += (figure.empty() ? "" : ", ") + in_seconds(seconds);
    }
    text += "<tr><td class=\"" +
            std::string(moves   ? "moves"
                        : works ? "works"
                                : "soft") +
            "\">" + std::string(planner::name_of(p.kind)) +
            (works || p.axes.empty() ? "" : " over " + escaped(names_of_axes(p.axes, s))) + "</td><td><code>" +
            escaped(from + " → " + names.of(p.operand) + planner::describe(p.to, n)) + "</code></td><td>" +
            escaped(figure) + "</td></tr>";
  }
  return text + "</table>";
}

inline std::vector<timeline_bar> bars_of(studied_way const& w, studied_statement const& s, study const& all) {
  std::vector<timeline_bar> bars;
  add_bars(bars, w, s, 0, all.machine.has_value());
  return bars;
}

// The first plan of each statement, one after the other.
inline std::string program_timeline(study const& all) {
  std::vector<timeline_bar> bars;
  double now = 0;
  for (studied_statement const& s : all.statements) {
    if (s.ways.empty()) {
      if (s.seconds > 0)
        bars.push_back({"products", s.tensors.back(), equation_of(s, all.element), false, now, s.seconds});
      now += s.seconds;
      continue;
    }
    studied_way const w = with_times(s.ways[0], s, all.machine.has_value());
    add_bars(bars, w, s, now, all.machine.has_value());
    now += length_of(w);
  }
  return "<section><h2>The first plan of each statement, one after the other</h2>" + timeline_of(bars, now) +
         "</section>\n";
}

inline std::string plan_of(std::size_t i, studied_statement const& s, study const& all, double longest,
                           std::int64_t most) {
  studied_way const w = with_times(s.ways[i], s, all.machine.has_value());
  double const share = most > 0 ? 100 * static_cast<double>(w.bytes) / static_cast<double>(most) : 0;
  char bar[64];
  std::snprintf(bar, sizeof bar, "<span class=\"bar\" style=\"width:%.1f%%\"></span>", share);
  std::string text = std::string("<details") + (i == 0 ? " open" : "") + "><summary><span class=\"number\">" +
                     std::to_string(i + 1) + "</span><span>" + escaped(summary_of(w.way, s)) +
                     (static_cast<int>(i) == s.of_default ? "<span class=\"badge\">os::einsum’s own</span>" : "") +
                     "</span><span>" + in_bytes(w.bytes) + (w.bytes > 0 ? bar : "") + "</span><span>" +
                     in_flops(w.way.flops) + "</span><span>" + in_bytes(w.memory) + "</span>";
  if (all.machine)
    text += "<span>" + in_seconds(w.seconds) + "</span><span>" + in_seconds(w.seconds_overlapped) + "</span>";
  text += "</summary><div class=\"inside\">" + timeline_of(bars_of(w, s, all), longest) + steps_of(w, s, all) + "<pre>";
  for (code_line const& l : code_of(w.way, s, all.element)) {
    text += escaped(l.text) + '\n';
    if (!l.dynamic.empty())
      text += "<span class=\"soft\">// Where extents are not static:</span>\n" + escaped(l.dynamic) + '\n';
  }
  return text + "</pre></div></details>";
}

inline std::string section_of(studied_statement const& s, study const& all, std::size_t top) {
  std::string text = "<section class=\"" + std::string(all.machine ? "timed" : "untimed") + "\"><h2>" +
                     escaped(equation_of(s, all.element)) + "</h2><div class=\"tensors\">";
  for (int k = 0; k < s.problem.operands.size(); ++k)
    text += (k > 0 ? "<span>·</span>" : "") +
            figure_of(s.problem.operands[k], s.tensors[static_cast<std::size_t>(k)], s, all);
  text += "<span>→</span>" + figure_of(s.problem.result, s.tensors.back(), s, all) + "</div>";
  if (s.ways.empty())
    return text + "<p class=\"soft\">" +
           (s.kind == planner::statement_kind::operation
                ? "No plan: " + escaped(moves_of_operation(s)) + "."
                : "There is no plan: more tensors than the planner can multiply.") +
           "</p></section>";
  std::size_t const shown = std::min(top, s.ways.size());
  double longest = 0;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    double const length = length_of(with_times(s.ways[i], s, all.machine.has_value()));
    if (std::isfinite(length)) longest = std::max(longest, length);
    most = std::max(most, s.ways[i].bytes);
  }
  text +=
      "<div class=\"plans\"><div class=\"head\"><span></span><span>plan</span><span>moves</span><span>operations</span>"
      "<span>memory</span>";
  if (all.machine) text += "<span>time</span><span>overlapped</span>";
  text += "</div>";
  for (std::size_t i = 0; i < shown; ++i) text += plan_of(i, s, all, longest, most);
  text += "</div>";
  if (shown < s.ways.size())
    text += "<p class=\"soft\">" + std::to_string(s.ways.size() - shown) + " more plans: --top " +
            std::to_string(s.ways.size()) + "</p>";
  return text + "</section>";
}

inline std::string devices_of(study const& all) {
  std::string text = "<div class=\"devices\"><span class=\"soft\">A device:</span>";
  for (named_size const& m : all.mesh)
    text += "<label>" + escaped(m.name) + "<input type=\"range\" name=\"" + escaped(m.name) + "\" min=\"0\" max=\"" +
            std::to_string(m.size - 1) + "\" value=\"0\" data-size=\"" + std::to_string(m.size) +
            "\"><output>0</output></label>";
  return text + "</div>";
}

}  // namespace detail

/// The page of at most `top` plans of each statement.
inline std::string as_html(study const& all, std::size_t top) {
  std::int64_t bytes = 0;
  double seconds = 0;
  for (studied_statement const& s : all.statements) {
    bytes += s.ways.empty() ? 0 : s.ways[0].bytes;
    seconds += s.ways.empty() ? s.seconds : s.ways[0].seconds;
  }
  std::size_t const count = all.statements.size();
  std::string text =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>" +
      escaped(count == 1 ? equation_of(all.statements[0], all.element)
                         : "Plans of " + std::to_string(count) + " statements") +
      "</title>\n<style>" + page_style + "</style></head>\n<body><main><header><h1>" +
      (count == 1 ? "Plans of an einsum" : "Plans of a program") + "</h1><p>";
  if (!all.mesh.empty())
    text += escaped(mesh_text(all.mesh)) + ", " + planner::describe_number(all.devices()) + " devices. ";
  text += "Elements are " + escaped(all.element.name) + "; figures are those of one device";
  text += all.machine ? ", times those of " + escaped(all.machine->name.view()) + ". "
                      : ". Timelines weigh moves and products as the planner does. ";
  if (count > 1) {
    text += "The first plan of each moves " + in_bytes(bytes);
    if (all.machine) text += " and takes " + in_seconds(seconds);
    text += ". ";
  }
  text += "</p>";
  if (!all.mesh.empty()) text += detail::devices_of(all);
  text += "</header>\n";
  if (count > 1) text += detail::program_timeline(all);
  for (studied_statement const& s : all.statements) text += detail::section_of(s, all, top) + '\n';
  text += "<section><p class=\"soft\">The lines have these plans with these declarations:</p><pre>";
  for (std::string const& d : declarations(all)) text += escaped(d) + '\n';
  return text + "</pre></section>\n<footer>Made by ostraka-plan.</footer></main>\n<script>" + page_script +
         "</script></body></html>\n";
}

}  // namespace explorer
