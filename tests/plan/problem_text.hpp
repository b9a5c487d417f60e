// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Tests of floor 2. An einsum written as in the literature, read at compile time:
///     problem("[i, j_X] [j_X, k] -> [i, k] {U_X}", "i=8 j=8 k=8 X=2")
/// Labels are lower case and numbered as they occur, mesh axes X, Y, Z, W in this order.

#include <string_view>

#include <ostraka/plan/search/plan_einsum.hpp>

namespace ostraka::testing {

struct label_names {
  char name[planner::max_labels]{};
  int count = 0;

  constexpr int number(char c) {
    for (int l = 0; l < count; ++l)
      if (name[l] == c) return l;
    name[count] = c;
    return count++;
  }
};

constexpr bool is_label(char c) { return c >= 'a' && c <= 'z'; }
constexpr int mesh_axis(char c) { return c == 'W' ? 3 : c - 'X'; }
constexpr bool is_mesh_axis(char c) { return c >= 'W' && c <= 'Z'; }

constexpr planner::einsum_problem problem(std::string_view tensors, std::string_view sizes,
                                          planner::admit rule = planner::admit::any) {
  planner::einsum_problem p;
  p.rule = rule;
  label_names names;
  bool result = false;
  bool partial = false;
  for (char c : tensors) {
    planner::spec* s = result ? &p.result : p.operands.count > 0 ? &p.operands[p.operands.count - 1] : nullptr;
    if (c == '[' && !result) p.operands.push_back({});
    if (c == '>') result = true;
    if (c == '{') partial = true;
    if (c == '}') partial = false;
    if (is_label(c)) s->push_back(names.number(c));
    if (is_mesh_axis(c) && partial) s->partial.insert(mesh_axis(c));
    if (is_mesh_axis(c) && !partial) s->over[s->rank - 1].push_back(mesh_axis(c));
  }
  p.sizes.labels = names.count;
  std::int64_t* size = nullptr;
  for (char c : sizes) {
    if (is_label(c)) size = &p.sizes.label[names.number(c)];
    if (is_mesh_axis(c)) {
      size = &p.sizes.mesh[mesh_axis(c)];
      if (mesh_axis(c) >= p.sizes.mesh_axes) p.sizes.mesh_axes = mesh_axis(c) + 1;
    }
    if (c >= '0' && c <= '9') *size = *size * 10 + (c - '0');
  }
  return p;
}

}  // namespace ostraka::testing
