// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The memory of a step of a program (program.hpp) on a device, tensor by tensor, for the largest blocks:
///
///     parameters    in their stored sharding
///     gradients     like their parameters
///     state         the optimiser's, settings.state_bytes for each element of a parameter
///     activations   inputs and the operands of the backward (program_flow::is_needed), once for each layer, even if
///                   several statements use them. The result of a gather is held in addition to its source, unless it
///                   is gathered again. If layers are recomputed, the inputs of all layers are held, and the other
///                   activations of one layer
///     workspace     of the statement with the most: its cotangents, and the intermediates of moves and products

#include <algorithm>
#include <cstddef>
#include <vector>

#include <ostraka/plan/pricing/program_price.hpp>

namespace ostraka::planner {

/// Bytes on a device.
struct program_memory {
  double parameters = 0;
  double gradients = 0;
  double state = 0;
  double activations = 0;
  double workspace = 0;

  [[nodiscard]] double total() const { return parameters + gradients + state + activations + workspace; }
};

/// The memory of the tensors of one program on one mesh.
class tensor_memory {
 public:
  tensor_memory(program_flow const& flow, statement_prices& prices, step_settings const& how)
      : flow_(flow), p_(flow.of()), prices_(prices), how_(how) {}

  /// The logical axes that a tensor's memory depends on; none if the tensor is not held.
  [[nodiscard]] std::vector<int> axes_of(int tensor) const {
    std::vector<int> axes;
    program_tensor const& t = p_.tensors[index(tensor)];
    if (!is_held(tensor)) return axes;
    flow_.add_axes(tensor, axes);
    if (program_statement const* const move = move_of(tensor))
      flow_.add_axes(move->operands[0].tensor, axes);
    if (t.role == tensor_role::parameter) flow_.add_axes_of_cotangent(tensor, axes);
    return axes;
  }

  /// Adds the memory of a tensor.
  void add(int tensor, axis_rules const& rules, program_memory& to) {
    program_tensor const& t = p_.tensors[index(tensor)];
    if (!is_held(tensor)) return;
    double const block = prices_.block_bytes(tensor, flow_.sharding(tensor, t.axes, rules));
    if (t.role == tensor_role::parameter) {
      to.parameters += block * t.repeat;
      if (!how_.training) return;
      to.gradients += prices_.block_bytes(tensor, flow_.cotangent(tensor, t.axes, rules)) * t.repeat;
      to.state += block / t.element_bytes * how_.state_bytes * t.repeat;
      return;
    }
    if (program_statement const* const move = move_of(tensor)) return add_moved(*move, rules, block, to);
    to.activations += block * times(t);
  }

 private:
  static constexpr std::size_t index(int i) { return program_flow::index(i); }

  [[nodiscard]] program_statement const* move_of(int tensor) const {
    int const by = flow_.made_by(tensor);
    if (by < 0 || p_.statements[index(by)].kind != statement_kind::move) return nullptr;
    return &p_.statements[index(by)];
  }

  [[nodiscard]] bool is_held(int tensor) const {
    tensor_role const role = p_.tensors[index(tensor)].role;
    return role == tensor_role::parameter || role == tensor_role::input ||
           (how_.training && (flow_.is_needed(tensor) || role == tensor_role::carried));
  }

  // Adds nothing for the result itself if it has the same blocks as its source, or if the backward gathers it again.
  void add_moved(program_statement const& move, axis_rules const& rules, double block, program_memory& to) {
    int const source = move.operands[0].tensor;
    program_tensor const& made = p_.tensors[index(move.result)];
    program_tensor const& from = p_.tensors[index(source)];
    bool const same = flow_.sharding(source, move.operands[0].axes, rules) ==
                      flow_.sharding(move.result, made.axes, rules);
    bool const again = how_.kept == keeping::all_but_gathers && prices_.gathers(move, rules);
    if (!same && !again) {
      to.activations += block * times(made);
    } else if (!is_held(source)) {
      to.activations += prices_.block_bytes(source, flow_.sharding(source, from.axes, rules)) * times(from);
    }
  }

  // The number of layers for which the tensor is held at once.
  [[nodiscard]] int times(program_tensor const& t) const {
    bool const again = how_.training && how_.kept == keeping::layers && t.role != tensor_role::carried;
    return again ? 1 : t.repeat;
  }

  program_flow const& flow_;
  program const& p_;
  statement_prices& prices_;
  step_settings how_;
};

}  // namespace ostraka::planner
