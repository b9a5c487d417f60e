// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A program with all ways to run each of its statements. Every statement numbers its labels and mesh axes in order of
/// appearance, as types do, so the plan here is the plan of the C++ line.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/plan/spec/describe_plan.hpp>

#include "program/parse.hpp"
#include "times.hpp"
#include "ways.hpp"

namespace explorer {

namespace planner = ostraka::planner;
using planner::extents;
using planner::mesh_order;
using planner::spec;

/// The name of a tensor's element type in a program, and its size in bytes.
struct element_type {
  std::string_view name = "float";  ///< the name in --type
  std::string_view code = "float";
  int bytes = 4;
};

/// A way to run a statement, and its figures for one device.
struct studied_way {
  einsum_way way{};
  std::int64_t bytes = 0;   ///< moved
  std::int64_t memory = 0;  ///< operands, result and workspace
  std::vector<timed_step> timeline{};
  double seconds = 0;             ///< with one step after the other
  double seconds_overlapped = 0;  ///< with os::overlapped; the same if there is no ring
};

/// A statement by itself, with its own numbers of tensors.
struct studied_statement {
  std::string text;  ///< as the user wrote it
  planner::statement_kind kind = planner::statement_kind::einsum;
  std::vector<std::string> labels, mesh_axes;
  std::vector<std::string> tensors;                    ///< operands, then the result
  std::vector<std::vector<std::string>> axes_above{};  ///< of the operands, by the names that the lines above give them
  std::vector<std::string> summed_unshared{};          ///< axes of one operand alone that are summed
  planner::einsum_problem problem{};
  int idle = 0;                     ///< mesh axes at the end that no tensor names
  std::vector<studied_way> ways{};  ///< best first; empty for an operation, which moves nothing
  double seconds = 0;               ///< of an operation
  std::string rows_over{};          ///< of an operation along rows: the mesh axes that divide them
  int of_default = 0;               ///< the way that os::einsum takes by default

  [[nodiscard]] planner::naming naming(element_type const& t) const {
    return {views_[0].data(), views_[1].data(), t.bytes, views_[2].data()};
  }
  void name_all() {
    for (int i = 0; i < 3; ++i) {
      auto const& names = i == 0 ? labels : i == 1 ? mesh_axes : tensors;
      views_[i].assign(names.begin(), names.end());
    }
  }

 private:
  std::vector<std::string_view> views_[3];
};

struct study {
  element_type element{};
  std::optional<planner::machine> machine{};
  std::vector<named_size> mesh{}, sizes{};
  std::vector<studied_statement> statements{};

  [[nodiscard]] std::int64_t devices() const {
    std::int64_t n = 1;
    for (named_size const& m : mesh) n *= m.size;
    return n;
  }
};

namespace detail {

template <class T>
int number_in(std::vector<T>& all, T const& one) {
  auto const at = std::find(all.begin(), all.end(), one);
  if (at != all.end()) return static_cast<int>(at - all.begin());
  all.push_back(one);
  return static_cast<int>(all.size()) - 1;
}

// The statement's numbers for labels and mesh axes of the program, in order of appearance.
struct numbering {
  std::vector<int> labels{}, mesh{};

  // The tensor with the names of its axes in this statement.
  spec take(planner::program_tensor const& t, std::vector<int> const& axes) {
    spec s;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      mesh_order const& of_program = t.sharding->over[i];
      mesh_order over;
      for (int k = 0; k < of_program.size(); ++k) over.push_back(number_in(mesh, of_program[k]));
      s.push_back(number_in(labels, axes[i]), over);
    }
    for (int m = 0; m < planner::max_mesh_axes; ++m)
      if (t.sharding->partial.contains(m)) s.partial.insert(number_in(mesh, m));
    return s;
  }
};

// A move of one tensor has exactly one plan.
inline std::vector<einsum_way> way_of_reshard(planner::einsum_problem const& p) {
  einsum_way w;
  w.plan.operands = p.operands;
  w.plan.result = p.result;
  w.plan.sizes = p.sizes;
  w.plan.feasible = true;
  for (planner::planned_step const& s : planner::plan_reshard(p.operands[0], p.result, p.sizes))
    w.plan.steps.push_back(s);
  w.elements = w.plan.elements_moved(p.sizes);
  w.workspace = planner::peak_workspace(w.plan, p.sizes);
  written_call call;
  call.moves = true;
  call.left = 0;
  call.made = planner::the_result;
  call.result = p.result;
  call.plan = w.plan;
  w.calls.push_back(call);
  return {w};
}

inline bool is_reshard(planner::einsum_problem const& p) {
  if (p.operands.size() != 1 || p.operands[0].rank != p.result.rank) return false;
  for (int i = 0; i < p.result.rank; ++i)
    if (p.operands[0].label[i] != p.result.label[i]) return false;
  return true;
}

inline studied_way measured(einsum_way const& w, studied_statement const& s, study const& all) {
  extents const& e = s.problem.sizes;
  std::int64_t const size = all.element.bytes;
  studied_way found{w, planner::bytes_per_device(w.elements, all.element.bytes, e), 0, {}, 0, 0};
  std::int64_t held = held_at_most(s.problem.result, e) + w.workspace;
  for (spec const& o : s.problem.operands) held += held_at_most(o, e);
  found.memory = held * size;
  if (!all.machine) return found;
  found.timeline = timeline_of(w.plan, e, all.element.bytes, *all.machine, s.mesh_axes);
  for (timed_step const& t : found.timeline) found.seconds += t.seconds;
  found.seconds_overlapped = w.one_call() ? seconds_overlapped(w.plan, e, found.timeline) : found.seconds;
  return found;
}

// True if two ways move the same tensors by the same steps over the same mesh axes, perhaps at other places.
inline bool same_moves(einsum_way const& a, einsum_way const& b) {
  int k = 0;
  for (planner::planned_step const& s : a.plan.steps) {
    if (!ostraka::communicates(s.kind)) continue;
    while (k < b.plan.steps.size() && !ostraka::communicates(b.plan.steps[k].kind)) ++k;
    if (k == b.plan.steps.size()) return false;
    planner::planned_step const& t = b.plan.steps[k++];
    if (s.kind != t.kind || s.operand != t.operand || !(s.axes == t.axes)) return false;
  }
  while (k < b.plan.steps.size() && !ostraka::communicates(b.plan.steps[k].kind)) ++k;
  return k == b.plan.steps.size();
}

// Leaves out the ways that are not worth considering: those that another beats and that move the same tensors in the
// same way, or cost ten times as much as the best. Ways of a policy stay.
inline void keep_considerable(studied_statement& s, planner::einsum_plan const& chosen, bool by_time) {
  std::vector<studied_way> kept;
  for (studied_way const& w : s.ways) {
    bool leave_out =
        w.way.beaten && (by_time ? w.seconds > 10 * s.ways[0].seconds : w.way.price > 10 * s.ways[0].way.price);
    for (studied_way const& better : kept) leave_out = leave_out || (w.way.beaten && same_moves(w.way, better.way));
    if (!leave_out || same_steps(w.way.plan, chosen)) kept.push_back(w);
  }
  s.ways = std::move(kept);
}

inline studied_statement studied(parsed_program const& p, std::size_t which, std::string_view text,
                                 study const& all, bool every_way) {
  planner::program_statement const& said = p.program.statements[which];
  studied_statement s;
  text_span const where = p.statements[which];
  s.text = std::string(text.substr(where.begin, where.length));
  s.kind = said.kind;
  numbering n;
  for (planner::program_operand const& o : said.operands) {
    planner::program_tensor const& t = p.program.tensors[static_cast<std::size_t>(o.tensor)];
    s.problem.operands.push_back(n.take(t, o.axes));
    s.tensors.push_back(t.name);
    s.axes_above.emplace_back();
    for (int a : t.axes) s.axes_above.back().push_back(p.program.axes[static_cast<std::size_t>(a)].name);
  }
  planner::program_tensor const& r = p.program.tensors[static_cast<std::size_t>(said.result)];
  s.problem.result = n.take(r, r.axes);
  s.tensors.push_back(r.name);
  for (int a : said.summed_unshared) s.summed_unshared.push_back(p.program.axes[static_cast<std::size_t>(a)].name);
  auto const named = n.mesh.size();
  for (std::size_t m = 0; m < p.mesh_sizes.size(); ++m)
    if (p.mesh_sizes[m] > 1) number_in(n.mesh, static_cast<int>(m));
  s.idle = static_cast<int>(n.mesh.size() - named);
  extents& e = s.problem.sizes;
  for (int l : n.labels) {
    s.labels.push_back(p.program.axes[static_cast<std::size_t>(l)].name);
    e.label[e.labels++] = p.program.axes[static_cast<std::size_t>(l)].extent;
  }
  for (int m : n.mesh) {
    s.mesh_axes.push_back(p.program.mesh_axes[static_cast<std::size_t>(m)]);
    e.mesh[e.mesh_axes++] = p.mesh_sizes[static_cast<std::size_t>(m)];
  }
  if (s.kind == planner::statement_kind::einsum && is_reshard(s.problem)) {
    // Types know only the mesh axes that they name, and a move is planned over these.
    s.mesh_axes.resize(named);
    e.mesh_axes = static_cast<int>(named);
    s.idle = 0;
  }
  s.name_all();
  if (s.kind == planner::statement_kind::operation) {
    if (all.machine) s.seconds = seconds_of_operation(s.problem, all.element.bytes, *all.machine);
    mesh_order const of_rows = said.rows.empty() ? mesh_order{} : r.sharding->over.back();
    for (int i = 0; i < of_rows.size(); ++i)
      s.rows_over += (i > 0 ? ", " : "") + p.program.mesh_axes[static_cast<std::size_t>(of_rows[i])];
    return s;
  }
  planner::mesh_set idle;
  for (std::size_t m = named; m < s.mesh_axes.size(); ++m) idle.insert(static_cast<int>(m));
  std::vector<einsum_way> const ways =
      is_reshard(s.problem) ? way_of_reshard(s.problem) : ways_of_einsum(s.problem, idle);
  for (einsum_way const& w : ways) s.ways.push_back(measured(w, s, all));
  auto const better = [&](studied_way const& a, studied_way const& b) {
    return all.machine ? a.seconds < b.seconds : a.way.price < b.way.price;
  };
  if (!s.ways.empty()) {
    planner::einsum_plan const chosen = s.ways[0].way.plan;
    sort_large(s.ways, better);
    if (!every_way) keep_considerable(s, chosen, all.machine.has_value());
    for (std::size_t i = 0; i < s.ways.size(); ++i)
      if (same_steps(s.ways[i].way.plan, chosen)) s.of_default = static_cast<int>(i);
  }
  return s;
}

}  // namespace detail

/// All ways of all statements. With `every_way` it also keeps the ways that another beats in every respect.
inline study study_program(parsed_program const& p, std::string_view text, element_type const& element,
                           std::optional<planner::machine> const& machine, bool every_way) {
  study all;
  all.element = element;
  all.machine = machine;
  for (std::size_t m = 0; m < p.mesh_sizes.size(); ++m) all.mesh.push_back({p.program.mesh_axes[m], p.mesh_sizes[m]});
  for (planner::program_axis const& a : p.program.axes) all.sizes.push_back({a.name, a.extent});
  for (std::size_t i = 0; i < p.program.statements.size(); ++i)
    all.statements.push_back(detail::studied(p, i, text, all, every_way));
  return all;
}

}  // namespace explorer
