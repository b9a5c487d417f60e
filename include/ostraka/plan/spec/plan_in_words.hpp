// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. How specs and plans are written: the bodies of describe_plan.hpp's functions. A program that links
/// ostraka::compiled has them there, and does not read this file.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/plan/spec/plan.hpp>
#include <ostraka/plan/spec/ring.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::planner {

namespace detail {

template <class>
[[gnu::cold]] std::string mesh_names(mesh_order o, naming const& n) {
  bool letters = true;
  for (int k = 0; k < o.size(); ++k) letters = letters && n.mesh_axes[o[k]].size() == 1;
  std::string s;
  for (int k = 0; k < o.size(); ++k) {
    if (k > 0 && !letters) s += ',';
    s += n.mesh_axes[o[k]];
  }
  return letters || o.size() == 1 ? s : join_text('{', s, '}');
}

// What a plan's operands and, behind them, its result are called: as the program does, else A, B, … by their places, or
// a letter that is not taken.
[[gnu::cold]] inline void name_tensors(std::string* names, int count, naming const& n) {
  for (int k = 0; k < count; ++k)
    if (n.tensors) names[k] = n.tensors[k];
  auto const taken = [&](char letter) {
    for (int k = 0; k < count; ++k)
      if (names[k].size() == 1 && names[k][0] == letter) return true;
    return false;
  };
  for (int k = 0; k < count; ++k) {
    if (!names[k].empty()) continue;
    char letter = static_cast<char>('A' + k);
    while (taken(letter)) ++letter;
    names[k] = letter;
  }
}

// What stands between the operands that an intermediate is called by: AB, or queries·keys.
[[gnu::cold]] inline char const* joint_of(std::string const* names, int count) {
  for (int k = 0; k < count; ++k)
    if (width_of(names[k]) > 1) return "·";
  return "";
}

}  // namespace detail

template <class>
[[gnu::cold]] std::string describe(spec const& s, naming const& n) {
  std::string text = "[";
  for (int i = 0; i < s.rank; ++i) {
    if (i > 0) text += ", ";
    text += n.labels[s.label[i]];
    if (!s.over[i].empty()) append_text(text, '_', detail::mesh_names(s.over[i], n));
  }
  text += ']';
  if (!s.partial.empty())
    append_text(text, " {", name_of(s.kind), '_', detail::mesh_names(detail::in_order(s.partial), n), '}');
  return text;
}

template <class>
[[gnu::cold]] std::string describe_number(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

template <class>
[[gnu::cold]] std::string describe_bytes(std::int64_t bytes) {
  return join_text(describe_number(bytes), " B");
}

template <class>
[[gnu::cold]] std::string describe_equation(spec const* operands, int count, spec const& result, naming const& n) {
  std::string text = join_text(static_cast<char>('A' + count), describe(result, n), " = ");
  for (int k = 0; k < count; ++k)
    append_text(text, k > 0 ? " · " : "", static_cast<char>('A' + k), describe(operands[k], n));
  return text;
}

namespace detail {

/// How a contraction that is to overlap a move does so, for these extents; or why it does not.
[[gnu::cold]] inline std::string describe_ring(einsum_plan const& plan, int at, extents const& e) {
  ring_choice const r = ring_at(plan.steps, at, e);
  if (r.verdict != ring_verdict::taken) return join_text("no ring: ", name_of(r.verdict));
  std::int64_t const devices = e.ways(plan.steps[r.move].axes);
  return join_text(name_of(plan.steps[r.move].kind), " in ", describe_number(devices - 1),
                   devices == 2          ? " step"
                   : plan.directions > 1 ? " steps, both ways"
                                         : " steps");
}

}  // namespace detail

template <class>
[[gnu::cold]] std::string describe(einsum_plan const& plan, naming const& n, extents const& e) {
  std::string names[max_tensors];
  std::string of_all[max_operands + 1];
  detail::name_tensors(of_all, plan.operands.size() + 1, n);
  for (int k = 0; k < plan.operands.size(); ++k) names[k] = of_all[k];
  names[slot_of(the_result)] = of_all[plan.operands.size()];
  auto const tensor = [&](int which, spec const& s) { return join_text(names[slot_of(which)], describe(s, n)); };

  std::string text = join_text(tensor(the_result, plan.result), " = ");
  for (int k = 0; k < plan.operands.size(); ++k) append_text(text, k > 0 ? " · " : "", tensor(k, plan.operands[k]));
  text += '\n';
  tensor_states tensors(plan);
  for (int i = 0; i < plan.steps.size(); ++i) {
    planned_step const& s = plan.steps[i];
    step kind = s.kind;
    std::string axes;
    std::string from;
    std::string ring;
    if (contracts(s.kind)) {
      if (plan.directions > 0) {
        ring = join_text(' ', detail::describe_ring(plan, i, e));
        ring_choice const r = ring_at(plan.steps, i, e);
        kind = r.verdict == ring_verdict::taken ? step::ring_contraction : step::contract;
        if (kind == step::ring_contraction)
          axes = join_text('<', detail::mesh_names(detail::in_order(plan.steps[r.move].axes), n), '>');
      }
      if (s.operand != the_result)
        names[s.operand] =
            join_text(names[slot_of(s.left)], detail::joint_of(of_all, plan.operands.size()), names[slot_of(s.right)]);
      from = join_text(tensor(s.left, tensors.of(s.left)),
                       s.right == no_tensor ? "" : join_text(" · ", tensor(s.right, tensors.of(s.right))));
    } else {
      axes = join_text('<', detail::mesh_names(detail::in_order(s.axes), n), '>');
      from = tensor(s.operand, s.from);
    }
    std::string line = join_text("  ", detail::padded(join_text(name_of(kind), axes), 20), ' ',
                                 detail::padded(join_text(from, " → ", tensor(s.operand, s.to)), 44));
    line += ring;
    if (communicates(s.kind))
      append_text(line, ' ', describe_bytes(bytes_per_device(elements_moved(s, e), n.element_bytes, e)));
    append_text(text, line.substr(0, line.find_last_not_of(' ') + 1), '\n');
    tensors.after(s);
  }
  return join_text(text, "  moves ", describe_bytes(bytes_per_device(plan.elements_moved(e), n.element_bytes, e)),
                   " per device\n");
}

}  // namespace ostraka::planner
