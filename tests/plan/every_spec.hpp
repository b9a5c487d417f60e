// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Tests of floor 2. The parts of sweeps: every sharding of a tensor, einsums as text ("ij,jk->ik"), sizes, and plans
/// as text.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/plan/search/plan_einsum.hpp>

namespace ostraka::testing {

using planner::einsum_plan;
using planner::einsum_problem;
using planner::extents;
using planner::mesh_order;
using planner::mesh_set;
using planner::planned_step;
using planner::spec;

using labels = std::vector<int>;

/// The labels of an einsum's tensors; numbered as they occur.
struct einsum_labels {
  std::string text{};
  std::string names{};
  std::vector<labels> operands{};
  labels result{};

  explicit einsum_labels(std::string const& t) : text(t) {
    operands.emplace_back();
    bool arrow = false;
    for (char c : t) {
      if (c == ',') operands.emplace_back();
      if (c == '>') arrow = true;
      if (c < 'a' || c > 'z') continue;
      if (names.find(c) == std::string::npos) names += c;
      (arrow ? result : operands.back()).push_back(static_cast<int>(names.find(c)));
    }
  }
  [[nodiscard]] int count() const { return static_cast<int>(names.size()); }
};

/// Every sharding of a tensor over the first `mesh_axes` mesh axes: each axis replicated, partial, or at any place of a
/// label's list.
inline std::vector<spec> every_spec(labels const& dims, int mesh_axes) {
  spec start;
  for (int l : dims) start.push_back(l);
  std::vector<spec> all{start};
  for (int m = 0; m < mesh_axes; ++m) {
    std::vector<spec> next;
    for (spec const& s : all) {
      next.push_back(s);
      next.push_back(s);
      next.back().partial.insert(m);
      for (int i = 0; i < s.rank; ++i)
        for (int at = 0; at <= s.over[i].size(); ++at) {
          mesh_order order;
          for (int k = 0; k < at; ++k) order.push_back(s.over[i][k]);
          order.push_back(m);
          for (int k = at; k < s.over[i].size(); ++k) order.push_back(s.over[i][k]);
          next.push_back(s);
          next.back().over[i] = order;
        }
    }
    all = std::move(next);
  }
  return all;
}

/// Extents of labels and sizes of mesh axes; a list that is too short is repeated.
inline extents make_extents(int label_count, std::vector<std::int64_t> const& label,
                            std::vector<std::int64_t> const& mesh) {
  extents e;
  e.labels = label_count;
  e.mesh_axes = static_cast<int>(mesh.size());
  for (int l = 0; l < label_count; ++l) e.label[l] = label[static_cast<std::size_t>(l) % label.size()];
  for (int m = 0; m < e.mesh_axes; ++m) e.mesh[m] = mesh[static_cast<std::size_t>(m)];
  return e;
}

inline std::string text_of(mesh_set axes) {
  std::string t;
  for (int m = 0; m < planner::max_mesh_axes; ++m)
    if (axes.contains(m)) t += "XYZWVU"[m];
  return t;
}

/// [i_XY, j] {U_Z}
inline std::string text_of(spec const& s, std::string const& names) {
  std::string t = "[";
  for (int i = 0; i < s.rank; ++i) {
    t += i == 0 ? "" : ", ";
    t += names[static_cast<std::size_t>(s.label[i])];
    if (!s.over[i].empty()) t += "_";
    for (int k = 0; k < s.over[i].size(); ++k) t += "XYZWVU"[s.over[i][k]];
  }
  t += "]";
  if (!s.partial.empty()) t += " {U_" + text_of(s.partial) + "}";
  return t;
}

inline char const* text_of(step s) {
  constexpr char const* names[] = {"slice",          "mask",       "zero_pad",       "all_gather", "all_reduce",
                                   "reduce_scatter", "all_to_all", "block_exchange", "contract"};
  return names[static_cast<int>(s)];
}

inline std::string text_of(extents const& e, std::string const& names) {
  std::string t;
  for (int l = 0; l < e.labels; ++l)
    t += std::string(1, names[static_cast<std::size_t>(l)]) + "=" + std::to_string(e.label[l]) + " ";
  for (int m = 0; m < e.mesh_axes; ++m) t += std::string(1, "XYZWVU"[m]) + "=" + std::to_string(e.mesh[m]) + " ";
  return t;
}

/// Every step on a line of its own.
template <class Steps>
std::string text_of(Steps const& steps, std::string const& names) {
  std::string t;
  for (planned_step const& s : steps) {
    std::string const tensor = s.operand == planner::the_result
                                   ? std::string("result")
                                   : std::string("operand ").append(std::to_string(s.operand));
    // Part by part: operator+ causes a false warning of g++ 12.
    for (std::string const& part :
         {std::string("\n    "), tensor, std::string(": "), std::string(text_of(s.kind)), std::string("<"),
          text_of(s.axes), std::string("> "), text_of(s.from, names), std::string(" -> "), text_of(s.to, names)})
      t += part;
  }
  return t;
}

/// The problem and the steps.
inline std::string text_of(einsum_plan const& p, std::string const& names) {
  std::string t;
  for (spec const& s : p.operands) t += text_of(s, names) + " ";
  return t + "-> " + text_of(p.result, names) + "   " + text_of(p.sizes, names) + text_of(p.steps, names);
}

}  // namespace ostraka::testing
