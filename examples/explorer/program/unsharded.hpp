// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A program of lines (parse.hpp) as one whose rules are searched (os::search_rules): without shardings, and with
/// parameters. Lines do not say which tensors are parameters. Here a parameter is a tensor that no line makes and that
/// lacks the batch axis, which is the first axis of the first tensor; other tensors that no line makes come from the
/// previous layer.
/// Weights and activations may be divided in different ways, so an axis that both have becomes two, H and H_w:
///
///     h[B, S, M] · up[M, H] -> a[B, S, H]         up[M_w, H_w], multiplied as [M, H]

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/plan/program/program.hpp>

namespace explorer {

using namespace ostraka::planner;  // programs

namespace detail {

// The parameter's axis for an axis that it shares with activations, such as H_w for H.
inline int add_weight_axis(program& p, int shared) {
  program_axis own = p.axes[static_cast<std::size_t>(shared)];
  do own.name += "_w";
  while (p.find_axis(own.name) >= 0);
  p.axes.push_back(std::move(own));
  return static_cast<int>(p.axes.size()) - 1;
}

}  // namespace detail

/// @pre the program has a tensor
[[nodiscard]] inline program unsharded(program p, int element_bytes) {
  std::vector<bool> made(p.tensors.size());
  for (program_statement const& s : p.statements) made[static_cast<std::size_t>(s.result)] = true;
  auto const has = [](std::vector<int> const& axes, int a) {
    return std::find(axes.begin(), axes.end(), a) != axes.end();
  };
  int const batch = p.tensors[0].axes.empty() ? -1 : p.tensors[0].axes[0];
  std::vector<bool> of_activations(p.axes.size());
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    program_tensor& tensor = p.tensors[t];
    tensor.sharding.reset();
    tensor.element_bytes = element_bytes;
    if (!made[t]) tensor.role = has(tensor.axes, batch) ? tensor_role::carried : tensor_role::parameter;
    if (tensor.role == tensor_role::parameter) continue;
    for (int a : tensor.axes) of_activations[static_cast<std::size_t>(a)] = true;
  }
  std::vector<int> in_weights(p.axes.size(), -1);
  for (program_tensor& tensor : p.tensors) {
    if (tensor.role != tensor_role::parameter) continue;
    for (int& a : tensor.axes) {
      auto const i = static_cast<std::size_t>(a);
      if (!of_activations[i]) continue;
      if (in_weights[i] < 0) in_weights[i] = detail::add_weight_axis(p, a);
      a = in_weights[i];
    }
  }
  p.mesh_axes.clear();
  return p;
}

/// Tensors of a role with their axes: "up[M_w, H_w], down[H_w, M_w]".
[[nodiscard]] inline std::string list_of_tensors(program const& p, tensor_role role) {
  std::string list;
  for (program_tensor const& t : p.tensors) {
    if (t.role != role) continue;
    if (!list.empty()) list += ", ";
    list += t.name;
    list += '[';
    for (std::size_t i = 0; i < t.axes.size(); ++i) {
      if (i > 0) list += ", ";
      list += p.axes[static_cast<std::size_t>(t.axes[i])].name;
    }
    list += ']';
  }
  return list;
}

}  // namespace explorer
