// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Specs and plans in the literature's notation: A[I_X, J] {U_Y}.

#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/plan/plan.hpp>

namespace ostraka::planner {

/// What the numbers of a plan are called.
struct naming {
  std::string_view const* labels = nullptr;
  std::string_view const* mesh_axes = nullptr;
  int element_bytes = 0;
};

[[nodiscard]] constexpr std::string_view name_of(step s) {
  switch (s) {
    case step::slice: return "slice";
    case step::mask: return "mask";
    case step::zero_pad: return "zero_pad";
    case step::all_gather: return "all_gather";
    case step::all_reduce: return "all_reduce";
    case step::reduce_scatter: return "reduce_scatter";
    case step::all_to_all: return "all_to_all";
    case step::block_exchange: return "block_exchange";
    case step::contract: return "contract";
  }
  return "";
}

namespace detail {

// I_XY where all names are letters, batch_{data,model} where one is a word.
inline std::string mesh_names(mesh_order o, naming const& n) {
  bool letters = true;
  for (int k = 0; k < o.size(); ++k) letters = letters && n.mesh_axes[o[k]].size() == 1;
  std::string s;
  for (int k = 0; k < o.size(); ++k) {
    if (k > 0 && !letters) s += ',';
    s += n.mesh_axes[o[k]];
  }
  return letters || o.size() == 1 ? s : '{' + s + '}';
}

inline mesh_order in_order(mesh_set axes) {
  mesh_order o;
  for (int m = 0; m < max_mesh_axes; ++m)
    if (axes.contains(m)) o.push_back(m);
  return o;
}

inline std::string padded(std::string s, std::size_t width) {
  std::size_t shown = 0;  // characters, not bytes: UTF-8 continuation bytes take no place
  for (char c : s) shown += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  if (shown < width) s.append(width - shown, ' ');
  return s;
}

}  // namespace detail

/// `[I_X, J] {U_Y}`
[[nodiscard]] inline std::string describe(spec const& s, naming const& n) {
  std::string text = "[";
  for (int i = 0; i < s.rank; ++i) {
    if (i > 0) text += ", ";
    text += n.labels[s.label[i]];
    if (!s.over[i].empty()) text += '_' + detail::mesh_names(s.over[i], n);
  }
  text += ']';
  if (!s.partial.empty()) text += " {U_" + detail::mesh_names(detail::in_order(s.partial), n) + '}';
  return text;
}

/// `1,234,567 B`
[[nodiscard]] inline std::string describe_bytes(std::int64_t bytes) {
  std::string digits = std::to_string(bytes);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits + " B";
}

/// Bytes per device of a step, rounded up.
[[nodiscard]] constexpr std::int64_t bytes_per_device(std::int64_t elements, int element_bytes, extents const& e) {
  return (elements * element_bytes + e.devices() - 1) / e.devices();
}

/// A line for the operation, a line for each step with the bytes that it moves per device for these extents, a line for the sum.
[[nodiscard]] inline std::string describe(einsum_plan const& plan, naming const& n, extents const& e) {
  auto const tensor = [&](int operand) {
    return std::string(1, static_cast<char>('A' + (operand == the_result ? plan.operands.size() : operand)));
  };
  auto const product = [&](bounded_list<spec, max_operands> const& specs) {
    std::string text;
    for (int k = 0; k < specs.size(); ++k) text += (k > 0 ? " · " : "") + tensor(k) + describe(specs[k], n);
    return text;
  };
  std::string text = tensor(the_result) + describe(plan.result, n) + " = " + product(plan.operands) + '\n';
  for (planned_step const& s : plan.steps) {
    std::string const axes = s.kind == step::contract ? "" : '<' + detail::mesh_names(detail::in_order(s.axes), n) + '>';
    std::string const from = s.kind == step::contract ? product(plan.contracted()) : tensor(s.operand) + describe(s.from, n);
    std::string line = "  " + detail::padded(std::string(name_of(s.kind)) + axes, 20) + ' ' +
                       detail::padded(from + " → " + tensor(s.operand) + describe(s.to, n), 44);
    if (communicates(s.kind)) line += ' ' + describe_bytes(bytes_per_device(elements_moved(s, e), n.element_bytes, e));
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text + "  moves " + describe_bytes(bytes_per_device(plan.elements_moved(e), n.element_bytes, e)) + " per device\n";
}

}  // namespace ostraka::planner
