// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The lines of C++ that run a statement by one of its plans:
///
///     auto a = os::einsum<B/X, S, H/Y>(h, W, os::gather_left);
///
/// Declarations give every axis its extent, so that the planner decides on these extents when it runs at compile time.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/plan/typed/nominal.hpp>

#include "study.hpp"

namespace explorer {

namespace detail {

inline char const* name_of_policy(planner::admit rule) {
  switch (rule) {
    case planner::admit::any:
      return "";
    case planner::admit::gather_left:
      return "os::gather_left";
    case planner::admit::gather_right:
      return "os::gather_right";
    case planner::admit::reduce_result:
      return "os::reduce_result";
    case planner::admit::no_communication:
      return "os::no_communication";
  }
  return "";
}

/// `B/X, S, H/Y, os::partial(Z)`. `above`: the names of an operand's axes in the statement that made it, if they
/// differ.
inline std::string dims_of(spec const& s, studied_statement const& of,
                           std::vector<std::string> const* above = nullptr) {
  std::string text;
  auto const mesh_name = [&](int m) { return of.mesh_axes[static_cast<std::size_t>(m)]; };
  for (int i = 0; i < s.rank; ++i) {
    text += (text.empty() ? "" : ", ") + (above != nullptr ? (*above)[static_cast<std::size_t>(i)]
                                                           : of.labels[static_cast<std::size_t>(s.label[i])]);
    for (int k = 0; k < s.over[i].size(); ++k) text += '/' + mesh_name(s.over[i][k]);
  }
  if (s.partial.empty()) return text;
  std::string axes;
  for (int m = 0; m < planner::max_mesh_axes; ++m)
    if (s.partial.contains(m)) axes += (axes.empty() ? "" : ", ") + mesh_name(m);
  return text + (text.empty() ? "" : ", ") + "os::partial(" + axes + ')';
}

// A tensor's variable: its name, unless an axis or a mesh axis has this name.
inline std::string variable_of(std::string const& name, studied_statement const& of) {
  bool taken = false;
  for (std::vector<std::string> const* all : {&of.labels, &of.mesh_axes})
    for (std::string const& n : *all) taken = taken || n == name || n + "_axis" == name || n + "_mesh" == name;
  return taken ? name + "_tensor" : name;
}

/// The policy after the operands; empty if there is none.
inline std::string policy_of(einsum_way const& w, studied_statement const& s) {
  if (!w.idle) return name_of_policy(w.rule);
  std::string axes;
  for (std::size_t m = s.mesh_axes.size() - static_cast<std::size_t>(s.idle); m < s.mesh_axes.size(); ++m)
    axes += (axes.empty() ? "" : ", ") + s.mesh_axes[m];
  return "os::idle(" + axes + ')';
}

/// The same, with the axes that the statement sums although only one operand has them.
inline std::string with_sums(std::string const& policy, studied_statement const& s) {
  std::string axes;
  for (std::string const& a : s.summed_unshared) axes += (axes.empty() ? "" : ", ") + a;
  if (axes.empty()) return policy;
  return "os::sum_over(" + axes + ')' + (policy.empty() ? "" : '(' + policy + ')');
}

/// True if this is also the plan of a program whose extents and mesh sizes are unknown to the compiler.
inline bool is_nominal(einsum_way const& w, studied_statement const& s) {
  planner::einsum_problem p = s.problem;
  p.rule = w.rule;
  if (!w.idle) p.sizes.mesh_axes -= s.idle;
  for (int l = 0; l < p.sizes.labels; ++l) p.sizes.label[l] = ostraka::dynamic_extent;
  for (int m = 0; m < p.sizes.mesh_axes; ++m) p.sizes.mesh[m] = ostraka::dynamic_extent;
  p.sizes = planner::nominal_sizes(p.sizes, p.operands, p.result);
  planner::einsum_plan const plan = planner::plan_einsum(p);
  return plan.feasible && same_steps(plan, w.plan);
}

/// An operand as an argument: os::rename<S, T>(k) where the statement gives an axis another name.
inline std::string argument_of(int operand, studied_statement const& of) {
  auto const k = static_cast<std::size_t>(operand);
  spec const& s = of.problem.operands[operand];
  std::string text = variable_of(of.tensors[k], of);
  for (int i = 0; i < s.rank; ++i) {
    std::string const& above = of.axes_above[k][static_cast<std::size_t>(i)];
    std::string const& here = of.labels[static_cast<std::size_t>(s.label[i])];
    if (above != here) text = "os::rename<" + above + ", " + here + ">(" + text + ')';
  }
  return text;
}

}  // namespace detail

/// One line of a program, and the bytes per device that it moves.
struct code_line {
  std::string text;
  std::int64_t bytes = 0;
  std::string checked;  ///< the line's plan as an expression, whose bytes() can be asserted
  std::string dynamic;  ///< the line for extents that are not static, if it differs
};

/// The lines of one way; the last line makes the result.
inline std::vector<code_line> code_of(einsum_way const& w, studied_statement const& s, element_type const& t) {
  extents const& e = s.problem.sizes;
  int const operands = s.problem.operands.size();
  std::string const result = detail::variable_of(s.tensors.back(), s);
  std::vector<std::string> names;
  for (int k = 0; k < operands; ++k) names.push_back(detail::argument_of(k, s));
  auto const list = [](std::vector<std::string> const& all) {
    std::string text;
    for (std::string const& n : all) text += (text.empty() ? "" : ", ") + n;
    return text;
  };
  if (w.one_call()) {
    std::string const begin = '<' + detail::dims_of(s.problem.result, s) + ">(" + list(names);
    std::string const policy = detail::with_sums(detail::policy_of(w, s), s);
    std::string const call = begin + (policy.empty() ? "" : ", " + policy) + ')';
    code_line line{"auto " + result + " = os::einsum" + call + ';', planner::bytes_per_device(w.elements, t.bytes, e),
                   "os::plan" + call, ""};
    if (!detail::is_nominal(w, s))
      line.dynamic = "auto " + result + " = os::einsum" + begin + ", os::for_these_sizes" +
                     (policy.empty() ? "" : '(' + policy + ')') + ");";
    return {line};
  }
  // Tensors by their numbers, as the earlier calls have left them.
  std::vector<std::string> now = names;
  now.resize(static_cast<std::size_t>(planner::max_tensors));
  std::vector<std::string> base = now;  // … and the stems of intermediates' names: x_u is made from x and u
  std::vector<std::string> taken;
  for (int k = 0; k < operands; ++k) {
    taken.push_back(detail::variable_of(s.tensors[static_cast<std::size_t>(k)], s));
    base[static_cast<std::size_t>(k)] = taken.back();
  }
  taken.push_back(result);
  auto const fresh = [&](std::string name) {
    while (std::find(taken.begin(), taken.end(), name) != taken.end()) name += '_';
    taken.push_back(name);
    return name;
  };
  std::string made_last;
  std::vector<code_line> lines;
  for (std::size_t i = 0; i < w.calls.size(); ++i) {
    written_call const& c = w.calls[i];
    bool const last = i + 1 == w.calls.size();
    auto const variable = [&](int tensor) {
      return tensor == planner::the_result ? made_last : now[static_cast<std::size_t>(tensor)];
    };
    if (!c.moves && c.right >= 0 && c.made >= 0)
      base[static_cast<std::size_t>(c.made)] =
          base[static_cast<std::size_t>(c.left)] + '_' + base[static_cast<std::size_t>(c.right)];
    bool const of_result = c.made == planner::the_result;
    std::string target = result;
    if (!last && of_result)
      target = fresh(result + (c.result.partial.empty() ? "_local" : "_parts"));
    else if (!last)
      target = fresh(base[static_cast<std::size_t>(c.made)] + (!c.moves                       ? ""
                                                               : c.plan.communications() == 0 ? "_sliced"
                                                                                              : "_moved"));
    std::string arguments = variable(c.left);
    if (c.right >= 0) arguments += ", " + variable(c.right);
    std::string const dims = '<' + detail::dims_of(c.result, s) + ">(" + arguments;
    std::string const stays = ", " + detail::with_sums("os::no_communication", s) + ')';
    extents const& sizes = c.plan.sizes;
    lines.push_back(
        {"auto " + target + " = os::" + (c.moves ? "reshard" : "einsum") + dims + (c.moves ? ");" : stays + ';'),
         planner::bytes_per_device(c.plan.elements_moved(sizes), t.bytes, sizes),
         c.moves ? "os::reshard_plan" + dims + ')' : "os::plan" + dims + stays, ""});
    if (of_result)
      made_last = target;
    else
      now[static_cast<std::size_t>(c.made)] = target;
  }
  return lines;
}

/// `OSTRAKA_AXIS(B, 128);` and so on.
inline std::vector<std::string> declarations(study const& all) {
  std::vector<std::string> lines;
  for (named_size const& s : all.sizes)
    lines.push_back("OSTRAKA_AXIS(" + s.name + ", " + std::to_string(s.size) + ");");
  for (named_size const& m : all.mesh)
    lines.push_back("OSTRAKA_MESH_AXIS(" + m.name + ", " + std::to_string(m.size) + ");");
  return lines;
}

}  // namespace explorer
