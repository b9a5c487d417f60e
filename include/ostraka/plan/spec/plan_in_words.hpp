// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The text of specs and plans: the bodies of the functions in describe_plan.hpp. A program that links
/// ostraka::compiled finds them there and does not read this file.

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

// The names of a plan's operands and, after them, its result: the program's own; otherwise A, B, … by position, or a
// letter that is not taken.
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

// The text between the factors in the name of an intermediate: AB, or queries·keys.
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

// The description of a plan, line by line.
class plan_lines {
 public:
  [[gnu::cold]] plan_lines(einsum_plan const& plan, naming const& n, extents const& e) : plan_(plan), n_(n), e_(e) {
    int const operands = plan.operands.size();
    name_tensors(names_, operands + 1, n);
    names_[slot_of(the_result)] = names_[operands];
    joint_ = joint_of(names_, operands);
  }

  // Adds the line of the operation.
  [[gnu::cold, gnu::noinline]] void add_equation() {
    add_tensor(the_result, plan_.result);
    for (int k = 0; k < plan_.operands.size(); ++k) {
      text += k == 0 ? " = " : " · ";
      add_tensor(k, plan_.operands[k]);
    }
    text += '\n';
  }

  // Adds the line of a reshard that only changes the order of the labels.
  [[gnu::cold, gnu::noinline]] void add_transpose() {
    if (!plan_.steps.empty() || plan_.operands.empty() || same_order(plan_.operands[0], plan_.result)) return;
    text += "  transpose            ";
    add_tensor(0, plan_.operands[0]);
    text += " → ";
    add_tensor(the_result, plan_.result);
    text += '\n';
  }

  // Adds the line of step number i; `tensors` are as they are before it.
  [[gnu::cold, gnu::noinline]] void add_step(int i, tensor_states const& tensors) {
    planned_step const& s = plan_.steps[i];
    bool const multiplies = contracts(s.kind), may_use_ring = multiplies && plan_.directions > 0;
    ring_choice const ring = may_use_ring ? ring_at(plan_.steps, i, e_) : ring_choice{};
    bool const travels_in_ring = may_use_ring && ring.verdict == ring_verdict::taken;
    text += "  ";
    std::size_t column = text.size();
    text += name_of(travels_in_ring ? step::ring_contraction : multiplies ? step::contract : s.kind);
    if (travels_in_ring || !multiplies)
      append_text(text, '<', mesh_names(in_order(travels_in_ring ? plan_.steps[ring.move].axes : s.axes), n_), '>');
    fill(column, 20);
    text += ' ';
    column = text.size();
    if (multiplies)
      add_factors(s, tensors);
    else
      add_tensor(source_of(i), read_by(i, tensors));
    text += " → ";
    add_tensor(s.operand, written_by(i));
    fill(column, 44);
    if (may_use_ring) add_ring(ring);
    if (communicates(s.kind)) append_text(text, ' ', describe_bytes(per_device(planner::elements_moved(s, e_))));
    if (!multiplies) add_order(i, tensors);
    while (text.back() == ' ') text.pop_back();
    text += '\n';
  }

  [[gnu::cold, gnu::noinline]] void add_sum() {
    append_text(text, "  moves ", describe_bytes(per_device(plan_.elements_moved(e_))), " per device\n");
  }

  std::string text;

 private:
  [[gnu::cold, gnu::noinline]] void add_tensor(int which, spec const& s) {
    append_text(text, names_[slot_of(which)], planner::describe(s, n_));
  }

  // Names an intermediate after its factors.
  [[gnu::cold, gnu::noinline]] void add_factors(planned_step const& s, tensor_states const& tensors) {
    if (s.operand != the_result)
      names_[s.operand] = join_text(names_[slot_of(s.left)], joint_, names_[slot_of(s.right)]);
    add_tensor(s.left, tensors.of(s.left));
    if (s.right == no_tensor) return;
    text += " · ";
    add_tensor(s.right, tensors.of(s.right));
  }

  // Adds how a contraction overlaps a move at these extents, or why it does not.
  [[gnu::cold, gnu::noinline]] void add_ring(ring_choice const& r) {
    if (r.verdict != ring_verdict::taken) return append_text(text, " no ring: ", name_of(r.verdict));
    std::int64_t const devices = e_.ways(plan_.steps[r.move].axes);
    append_text(text, ' ', name_of(plan_.steps[r.move].kind), " in ", describe_number(devices - 1), " step",
                devices == 2           ? ""
                : plan_.directions > 1 ? "s, both ways"
                                       : "s");
  }

  // All steps of a reshard act on its result, and the first one reads the source.
  [[nodiscard]] int source_of(int i) const {
    bool const is_first_of_reshard = i == 0 && plan_.steps[0].operand == the_result;
    return is_first_of_reshard ? 0 : plan_.steps[i].operand;
  }

  // The tensors that a move reads and writes, with their labels in memory order.
  [[nodiscard]] spec read_by(int i, tensor_states const& tensors) const {
    return reordered(plan_.steps[i].from, tensors.of(source_of(i)));
  }
  [[nodiscard]] spec written_by(int i) const {
    bool const makes_result = i + 1 == plan_.steps.size();
    return makes_result ? reordered(plan_.steps[i].to, plan_.result) : plan_.steps[i].to;
  }

  // Adds the point at which a move changes the order of the labels.
  [[gnu::cold, gnu::noinline]] void add_order(int i, tensor_states const& tensors) {
    planned_step const& s = plan_.steps[i];
    bool const moves = communicates(s.kind);
    if (!same_order(s.from, tensors.of(source_of(i))))
      append_text(text, moves ? ", transposed when packed" : " transposed");
    else if (!same_order(s.to, written_by(i)))
      append_text(text, moves ? ", transposed on arrival" : " transposed");
  }

  // Pads the text that begins at `column` to the column's width.
  [[gnu::cold, gnu::noinline]] void fill(std::size_t column, std::size_t width) {
    for (std::size_t shown = width_of(std::string_view(text).substr(column)); shown < width; ++shown) text += ' ';
  }

  [[nodiscard]] std::int64_t per_device(std::int64_t elements) const {
    return bytes_per_device(elements, n_.element_bytes, e_);
  }

  einsum_plan const& plan_;
  naming const& n_;
  extents const& e_;
  std::string names_[max_tensors];
  char const* joint_ = "";
};

}  // namespace detail

template <class>
[[gnu::cold]] std::string describe(einsum_plan const& plan, naming const& n, extents const& e) {
  detail::plan_lines lines(plan, n, e);
  lines.add_equation();
  lines.add_transpose();
  tensor_states tensors(plan);
  for (int i = 0; i < plan.steps.size(); ++i) {
    lines.add_step(i, tensors);
    tensors.after(plan.steps[i]);
  }
  lines.add_sum();
  return lines.text;
}

}  // namespace ostraka::planner
