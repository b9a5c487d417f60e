// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A program as data: its statements without shardings, so that many shardings of it can be priced
/// (plan/pricing/program_price.hpp) and the best one found (plan/rule_search). A feed-forward layer is three
/// statements:
///
///     a[B, S, H] = x[B, S, M] · up[M, H]        an einsum
///     g[B, S, H] = gelu(a[B, S, H])             an operation, element by element
///     y[B, S, M] = g[B, S, H] · down[H, M]      an einsum
///
/// Rules and the dimensions of tensors refer to logical axes by name. A statement may rename a dimension of an operand,
/// as os::rename does: up[N, H] is multiplied as [M, H]. Rules then divide N, for the storage of weights, and M, the
/// width of activations, independently.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/plan/spec/spec.hpp>

namespace ostraka::planner {

/// A logical axis.
struct program_axis {
  std::string name;
  std::int64_t extent = 0;
  std::string rule_set{};  ///< the rule set in which its rules are printed: storage, use; empty: the only one
  bool whole = false;      ///< no rule divides it
};

enum class tensor_role : std::uint8_t {
  input,         ///< new in every step; needs no gradient
  carried,       ///< the input of a layer: the previous layer has made it and needs its gradient
  parameter,     ///< has a gradient and a state in the optimiser
  intermediate,  ///< made by a statement
  result         ///< made by a statement, and returned
};

/// A sharding of a tensor that rules do not change.
struct program_sharding {
  std::vector<mesh_order> over;  ///< the mesh axes that divide each dimension, by their numbers in the program
  mesh_set partial{};
};

struct program_tensor {
  std::string name;
  std::vector<int> axes;  ///< numbers of logical axes
  tensor_role role = tensor_role::intermediate;
  int element_bytes = 4;
  int repeat = 1;                              ///< the number of such tensors: one per layer
  std::optional<program_sharding> sharding{};  ///< none: rules decide by its axes
};

/// A tensor in a statement, with the names of its dimensions there.
struct program_operand {
  int tensor = 0;
  std::vector<int> axes;
};

enum class statement_kind : std::uint8_t {
  einsum,     ///< the product of its operands, summed over axes that the result lacks
  operation,  ///< element by element, or along rows: devices compute their blocks independently
  move        ///< the operand under the sharding of the result (os::reshard), whose cotangent it shares
};

/// One line: a tensor made of others. The dimensions of the result have the names of its own axes.
struct program_statement {
  statement_kind kind = statement_kind::einsum;
  int result = 0;
  std::vector<program_operand> operands;
  int repeat = 1;  ///< runs per step: one in each layer

  // Of einsums.
  std::vector<int> summed_unshared{};  ///< axes that may be summed although one of several operands alone has them
  bool partial = false;  ///< sums along divided axes stay partial (os::partial): a later move reduces them

  // Of operations.
  double flops = 1;          ///< flops for each combination of indices of all its axes
  double pulled = 2;         ///< the flops of its derivative for each of its own flops
  std::vector<int> whole{};  ///< axes that no mesh axis may divide in an operand: a softmax's, keys of attention.
                             ///< Operands that are divided along them are gathered first
  std::vector<int> rows{};   ///< axes along which the operation reduces; if they are divided, …
  int row_numbers = 0;       ///< … this many numbers per row are all-reduced, forward and again backward
  bool keeps = true;         ///< the backward needs its operands, so they stay in memory

  // Of moves.
  bool deferred = false;  ///< cotangents of the result stay partial until all are added (os::defer_over)
};

/// Statements in an order in which they can run.
struct program {
  std::string name;
  std::vector<program_axis> axes;
  std::vector<program_tensor> tensors;
  std::vector<program_statement> statements;
  std::vector<std::string> mesh_axes;  ///< mesh axes in the shardings of its tensors; empty if no tensor has a sharding

  /// The number of the axis, tensor or mesh axis of this name, −1 if there is none.
  [[nodiscard]] int find_axis(std::string_view n) const { return find(axes, n); }
  [[nodiscard]] int find_tensor(std::string_view n) const { return find(tensors, n); }
  [[nodiscard]] int find_mesh_axis(std::string_view n) const {
    for (std::size_t i = 0; i < mesh_axes.size(); ++i)
      if (mesh_axes[i] == n) return static_cast<int>(i);
    return -1;
  }

 private:
  template <class Named>
  static int find(std::vector<Named> const& all, std::string_view n) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].name == n) return static_cast<int>(i);
    return -1;
  }
};

}  // namespace ostraka::planner
