// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Figures and plans as text: 12.6 MB, 1.4 ms, `all_gather h over Y`.

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "study.hpp"

namespace explorer {

namespace detail {

inline std::string three_digits(double n) {
  char text[32];
  std::snprintf(text, sizeof text, n >= 99.95 ? "%.0f" : n >= 9.995 ? "%.1f" : "%.2f", n);
  return text;
}

template <std::size_t N>
std::string scaled(double n, std::array<char const*, N> const& units, double step) {
  std::size_t i = 0;
  while (i + 1 < N && n >= 0.9995 * step) {
    n /= step;
    ++i;
  }
  return (i == 0 && n == std::floor(n) ? std::to_string(static_cast<std::int64_t>(n)) : three_digits(n)) + ' ' +
         units[i];
}

}  // namespace detail

/// `12.6 MB`
inline std::string in_bytes(std::int64_t n) {
  return detail::scaled(static_cast<double>(n), std::array{"B", "kB", "MB", "GB", "TB", "PB"}, 1000);
}

/// `1.07 T`: multiplications and additions.
inline std::string in_flops(std::int64_t n) {
  std::string s = detail::scaled(static_cast<double>(n), std::array{"", "k", "M", "G", "T", "P", "E"}, 1000);
  while (s.back() == ' ') s.pop_back();
  return s;
}

/// `1.40 ms`; `∞` for a step that the machine cannot do.
inline std::string in_seconds(double s) {
  if (!std::isfinite(s)) return "∞";
  if (s == 0) return "0";
  return detail::scaled(s * 1e9, std::array{"ns", "µs", "ms", "s"}, 1000);
}

/// The moves of an operation, which has no plan.
inline std::string moves_of_operation(studied_statement const& s) {
  if (s.rows_over.empty()) return "nothing moves";
  return "rows are divided over " + s.rows_over + ": a few numbers of each are all-reduced";
}

/// The names of a plan's tensors as its steps are walked: an intermediate is named after its contents.
struct tensor_names {
  std::vector<std::string> name = std::vector<std::string>(static_cast<std::size_t>(planner::max_tensors));

  explicit tensor_names(studied_statement const& s) {
    for (std::size_t k = 0; k + 1 < s.tensors.size(); ++k) name[k] = s.tensors[k];
    name.back() = s.tensors.back();
  }
  [[nodiscard]] std::string const& of(int tensor) const {
    return name[static_cast<std::size_t>(planner::slot_of(tensor))];
  }
  void after(planner::planned_step const& p) {
    if (ostraka::contracts(p.kind) && p.operand != planner::the_result && p.right != planner::no_tensor)
      name[static_cast<std::size_t>(p.operand)] = of(p.left) + "·" + of(p.right);
  }
};

/// `X, Y`
inline std::string names_of_axes(planner::mesh_set axes, studied_statement const& s) {
  std::string text;
  for (int m = 0; m < s.problem.sizes.mesh_axes; ++m)
    if (axes.contains(m)) text += (text.empty() ? "" : ", ") + s.mesh_axes[static_cast<std::size_t>(m)];
  return text;
}

/// The moves of a plan: `all_gather h over Y, all_gather W over X`.
inline std::string summary_of(einsum_way const& w, studied_statement const& s) {
  std::string text;
  tensor_names names(s);
  for (planner::planned_step const& p : w.plan.steps) {
    if (ostraka::communicates(p.kind))
      text += (text.empty() ? "" : ", ") + std::string(planner::name_of(p.kind)) + ' ' +
              (ostraka::contracts(p.kind) ? "" : names.of(p.operand)) + " over " + names_of_axes(p.axes, s);
    names.after(p);
  }
  return text.empty() ? "no communication" : text;
}

/// `X=2 · Y=4`
inline std::string mesh_text(std::vector<named_size> const& mesh, char const* between = " · ") {
  std::string text;
  for (named_size const& m : mesh)
    text += (text.empty() ? "" : between) + m.name + '=' + std::to_string(m.size);
  return text;
}

/// `h[B_X, S, M_Y] · W[M_X, H_Y] → a[B_X, S, H_Y]`
inline std::string equation_of(studied_statement const& s, element_type const& t) {
  planner::naming const n = s.naming(t);
  std::string text;
  bool const operation = s.kind == planner::statement_kind::operation;
  for (int k = 0; k < s.problem.operands.size(); ++k)
    text += (k == 0      ? ""
             : operation ? ", "
                         : " · ") +
            s.tensors[static_cast<std::size_t>(k)] + planner::describe(s.problem.operands[k], n);
  if (operation) text = s.text.substr(0, s.text.find('(')) + '(' + text + ')';
  return text + " → " + s.tensors.back() + planner::describe(s.problem.result, n);
}

}  // namespace explorer
