// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// SVG: a tensor as a sheet that its mesh axes cut into blocks, and a plan as bars in time. Blocks carry their numbers,
/// so that the page can mark the blocks of one device.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "figures.hpp"
#include "page.hpp"

namespace explorer {

namespace detail {

inline std::string attribute(char const* name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, " %s=\"%.4g\"", name, value);
  return text;
}

inline std::string svg_rectangle(double x, double y, double width, double height, std::string const& more) {
  return "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) + attribute("height", height) +
         more;
}

inline std::string svg_label(double x, double y, char const* anchor, std::string const& text, char const* kind = "") {
  return "<text" + attribute("x", x) + attribute("y", y) + " text-anchor=\"" + anchor + "\"" + kind + ">" +
         escaped(text) + "</text>";
}

// The blocks along an axis, as drawn: if there are many, one cell represents those in the middle.
struct drawn_blocks {
  std::int64_t first = 0, last = 0;
};

inline std::vector<drawn_blocks> blocks_drawn(std::int64_t blocks) {
  constexpr std::int64_t most = 8;
  std::vector<drawn_blocks> all;
  if (blocks <= most) {
    for (std::int64_t b = 0; b < blocks; ++b) all.push_back({b, b});
    return all;
  }
  for (std::int64_t b = 0; b + 2 < most; ++b) all.push_back({b, b});
  all.push_back({most - 2, blocks - 2});
  all.push_back({blocks - 1, blocks - 1});
  return all;
}

// Rows and columns of the picture: among more than two axes the first two that are divided, then the last ones.
struct drawn_axes {
  int rows = -1, columns = -1;
};

inline drawn_axes axes_drawn(spec const& s) {
  if (s.rank == 0) return {};
  if (s.rank == 1) return {-1, 0};
  std::vector<int> chosen;
  for (int i = 0; i < s.rank && chosen.size() < 2; ++i)
    if (!s.over[i].empty()) chosen.push_back(i);
  for (int i = s.rank; i-- > 0 && chosen.size() < 2;)
    if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) chosen.push_back(i);
  return {std::min(chosen[0], chosen[1]), std::max(chosen[0], chosen[1])};
}

inline std::string mesh_of(mesh_order const& o, studied_statement const& s, char const* between) {
  std::string text;
  for (int k = 0; k < o.size(); ++k) text += (k > 0 ? between : "") + s.mesh_axes[static_cast<std::size_t>(o[k])];
  return text;
}

inline std::string range_text(planner::range r) {
  return '[' + std::to_string(r.begin) + ", " + std::to_string(r.end) + ')';
}

}  // namespace detail

/// Draws a tensor: its two most divided axes are rows and columns. If other axes are divided, there is a sheet behind
/// it; if the tensor is partial, its outline is dashed.
inline std::string picture_of(spec const& t, studied_statement const& s, element_type const& element) {
  extents const& e = s.problem.sizes;
  detail::drawn_axes const axes = detail::axes_drawn(t);
  auto const blocks = [&](int i) { return i < 0 ? std::int64_t{1} : e.ways(t.over[i]); };
  auto const extent = [&](int i) { return i < 0 ? std::int64_t{1} : e.label[t.label[i]]; };
  std::vector<detail::drawn_blocks> const rows = detail::blocks_drawn(blocks(axes.rows));
  std::vector<detail::drawn_blocks> const columns = detail::blocks_drawn(blocks(axes.columns));
  auto const label = [&](int i) {
    planner::mesh_order const& o = t.over[i];
    spec one;
    one.push_back(t.label[i], o);
    std::string const text = planner::describe(one, s.naming(element));
    return text.substr(1, text.size() - 2);
  };
  double const margin = axes.rows < 0 ? 4 : 14 + 6.5 * static_cast<double>(planner::detail::width_of(label(axes.rows)));
  double const left = margin, top = 20, width = 168, height = axes.rows < 0 ? 36 : 104;
  bool stacked = false;
  for (int i = 0; i < t.rank; ++i) stacked = stacked || (i != axes.rows && i != axes.columns && !t.over[i].empty());
  std::string body;
  if (axes.columns >= 0) body += detail::svg_label(left + width / 2, 13, "middle", label(axes.columns));
  if (stacked) body += detail::svg_rectangle(left + 6, top - 5, width, height, " class=\"sheet\"/>");
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < columns.size(); ++c) {
      double const w = width / static_cast<double>(columns.size()), h = height / static_cast<double>(rows.size());
      double const x = left + w * static_cast<double>(c), y = top + h * static_cast<double>(r);
      auto const numbers = [](detail::drawn_blocks b) {
        return std::to_string(b.first) + '-' + std::to_string(b.last);
      };
      bool const on = rows[r].first == 0 && columns[c].first == 0;
      std::string what;
      auto const say = [&](int i, detail::drawn_blocks b) {
        if (i < 0) return;
        planner::range const first = planner::block(extent(i), b.first, blocks(i));
        planner::range const last = planner::block(extent(i), b.last, blocks(i));
        what += (what.empty() ? "" : " × ") + s.labels[static_cast<std::size_t>(t.label[i])] + ' ' +
                detail::range_text({first.begin, last.end});
      };
      say(axes.rows, rows[r]);
      say(axes.columns, columns[c]);
      body += detail::svg_rectangle(x + 0.75, y + 0.75, w - 1.5, h - 1.5,
                                    std::string(" rx=\"2\" class=\"cell") + (on ? " on" : "") +
                                        (t.partial.empty() ? "" : " parts") + "\" data-row=\"" + numbers(rows[r]) +
                                        "\" data-column=\"" + numbers(columns[c]) + "\"><title>" + escaped(what) +
                                        "</title></rect>");
      if (rows[r].last > rows[r].first || columns[c].last > columns[c].first)
        body += detail::svg_label(x + w / 2, y + h / 2 + 4, "middle", "⋯");
    }
  if (axes.rows >= 0) body += detail::svg_label(left - 8, top + height / 2 + 4, "end", label(axes.rows));
  double const all = left + width + margin;  // so that the sheet stands above the middle of its name
  auto const over = [&](int i) { return i < 0 ? std::string() : detail::mesh_of(t.over[i], s, ","); };
  return "<svg class=\"tensor\" role=\"img\" data-rows=\"" + escaped(over(axes.rows)) + "\" data-columns=\"" +
         escaped(over(axes.columns)) + "\"" + detail::attribute("width", all) +
         detail::attribute("height", top + height + 6) + '>' + body + "</svg>";
}

/// A bar in time: a move over a set of mesh axes, or a product.
struct timeline_bar {
  std::string lane;
  std::string name;
  std::string what;  ///< its name and duration
  bool moves = false;
  double begin = 0, seconds = 0;
};

/// Adds the bars of a plan that begins at `start`.
inline void add_bars(std::vector<timeline_bar>& bars, studied_way const& w, studied_statement const& s, double start,
                     bool timed) {
  tensor_names names(s);
  for (int i = 0; i < w.way.plan.steps.size(); ++i) {
    planner::planned_step const& p = w.way.plan.steps[i];
    timed_step const& t = w.timeline[static_cast<std::size_t>(i)];
    names.after(p);
    bool const moves = ostraka::communicates(p.kind);
    if (!moves && !ostraka::contracts(p.kind)) continue;
    std::string const name =
        moves ? std::string(planner::name_of(p.kind)) + ' ' + names.of(p.operand) : names.of(p.operand);
    bars.push_back({moves ? "over " + names_of_axes(p.axes, s) : "products", name,
                    timed ? name + ", " + in_seconds(t.seconds) : name, moves, start + t.begin, t.seconds});
  }
}

/// Draws bars in lanes. The whole width represents the time `longest`.
inline std::string timeline_of(std::vector<timeline_bar> const& bars, double longest) {
  std::vector<std::string> lanes;
  for (bool moves : {true, false})
    for (timeline_bar const& b : bars)
      if (b.moves == moves && std::find(lanes.begin(), lanes.end(), b.lane) == lanes.end()) lanes.push_back(b.lane);
  double const left = 100, width = 780, row = 26;
  std::string body;
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    double const y = row * static_cast<double>(l);
    body += detail::svg_label(left - 10, y + 17, "end", lanes[l]) + "<line class=\"lane\"" +
            detail::attribute("x1", left) + detail::attribute("x2", left + width) + detail::attribute("y1", y + 23.5) +
            detail::attribute("y2", y + 23.5) + "/>";
  }
  for (timeline_bar const& b : bars) {
    if (!std::isfinite(b.begin) || !std::isfinite(b.seconds) || longest <= 0) continue;
    double const x = left + width * b.begin / longest, long_ = std::max(width * b.seconds / longest, 1.0);
    double const y = row * static_cast<double>(std::find(lanes.begin(), lanes.end(), b.lane) - lanes.begin());
    body += detail::svg_rectangle(x, y + 3, long_, 17,
                                  std::string(" rx=\"2\" class=\"") + (b.moves ? "move" : "work") + "\"><title>" +
                                      escaped(b.what) + "</title></rect>");
    if (long_ > 7.0 * static_cast<double>(planner::detail::width_of(b.name)))
      body += detail::svg_label(x + 5, y + 15.5, "start", b.name, " class=\"in\"");
  }
  return "<div class=\"scroll\"><svg class=\"timeline\" role=\"img\"" + detail::attribute("width", left + width + 4) +
         detail::attribute("height", row * static_cast<double>(lanes.size()) + 4) + '>' + body + "</svg></div>";
}

}  // namespace explorer
