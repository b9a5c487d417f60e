// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The shardings that rules give to a program's tensors and their cotangents, and the rules on which a
/// statement depends. Labels of specs are the numbers of logical axes here; a program may have more of these than an
/// einsum.
///
///     tensor                          its cotangent is divided
///     any                             as it is
///     moved (os::reshard)             as its source's: later products compute it in that sharding
///     a product left partial          as it is, and whole
///     moved and deferred              as it is, and partial over the mesh axes that divide the axes that products
///                                     after it sum in their backward: a[B, H_Y] = x[B, M] · up[M, H_Y] gives dx {U_Y}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/plan/program/program.hpp>

namespace ostraka::planner {

/// The mesh axes that divide each logical axis of a program.
using axis_rules = std::vector<mesh_order>;

/// The makers and users of a program's tensors, and their shardings.
class program_flow {
 public:
  explicit program_flow(program const& p)
      : p_(p),
        made_by_(p.tensors.size(), -1),
        has_gradient_(p.tensors.size()),
        is_needed_(p.tensors.size()),
        used_by_(p.tensors.size()) {
    for (std::size_t t = 0; t < p.tensors.size(); ++t)
      has_gradient_[t] = p.tensors[t].role == tensor_role::parameter || p.tensors[t].role == tensor_role::carried;
    for (std::size_t i = 0; i < p.statements.size(); ++i) {
      program_statement const& s = p.statements[i];
      made_by_[index(s.result)] = static_cast<int>(i);
      for (program_operand const& o : s.operands) {
        if (has_gradient_[index(o.tensor)]) has_gradient_[index(s.result)] = true;
        used_by_[index(o.tensor)].push_back(static_cast<int>(i));
      }
    }
    for (program_statement const& s : p.statements) mark_needed(s);
  }

  [[nodiscard]] program const& of() const { return p_; }
  /// The statement that makes a tensor; −1 if the tensor is an input.
  [[nodiscard]] int made_by(int tensor) const { return made_by_[index(tensor)]; }
  /// The statements that use a tensor.
  [[nodiscard]] std::vector<int> const& used_by(int tensor) const { return used_by_[index(tensor)]; }
  /// True if a tensor depends on parameters or carried tensors.
  [[nodiscard]] bool has_gradient(int tensor) const { return has_gradient_[index(tensor)]; }

  /// True if a tensor is an operand that the backward needs.
  [[nodiscard]] bool is_needed(int tensor) const { return is_needed_[index(tensor)]; }

  /// The sharding of a tensor whose dimensions have the names `called`.
  [[nodiscard]] spec sharding(int tensor, std::vector<int> const& called, axis_rules const& rules) const {
    program_tensor const& t = p_.tensors[index(tensor)];
    spec s;
    for (std::size_t d = 0; d < t.axes.size(); ++d)
      s.push_back(called[d], t.sharding ? t.sharding->over[d] : rules[index(t.axes[d])]);
    if (t.sharding)
      s.partial = t.sharding->partial;
    else if (program_statement const* const maker = partial_maker(tensor))
      s.partial = summed_in(*maker, rules) - s.splits();
    return s;
  }

  /// The sharding of a tensor's cotangent.
  [[nodiscard]] spec cotangent(int tensor, std::vector<int> const& called, axis_rules const& rules) const {
    program_statement const* const move = move_of(tensor);
    if (move != nullptr && !move->deferred) {
      program_operand const& from = move->operands[0];
      return cotangent(from.tensor, names_after_move(*move, called), rules);
    }
    spec s = sharding(tensor, called, rules);
    s.partial = {};
    if (move != nullptr) s.partial = summed_by_products(tensor, rules) - s.splits();
    return s;
  }

  /// The logical axes whose rules the sharding of a tensor, and of its cotangent, depend on.
  void add_axes(int tensor, std::vector<int>& axes) const {
    if (p_.tensors[index(tensor)].sharding) return;
    add(axes, p_.tensors[index(tensor)].axes);
    if (program_statement const* const maker = partial_maker(tensor))
      for (program_operand const& o : maker->operands) add_axes(o.tensor, axes);
  }
  void add_axes_of_cotangent(int tensor, std::vector<int>& axes) const {
    program_statement const* const move = move_of(tensor);
    if (move != nullptr && !move->deferred) return add_axes_of_cotangent(move->operands[0].tensor, axes);
    add_axes(tensor, axes);
    if (move == nullptr) return;
    for (int user : used_by(tensor)) add_axes(p_.statements[index(user)].result, axes);
  }

  static constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

 private:
  // Marks the operands that the backward needs: in a product, for each factor with a gradient, all the others.
  void mark_needed(program_statement const& s) {
    if (s.kind == statement_kind::move || !has_gradient_[index(s.result)]) return;
    for (std::size_t k = 0; k < s.operands.size(); ++k) {
      bool needed = s.kind == statement_kind::operation && s.keeps;
      for (std::size_t j = 0; s.kind == statement_kind::einsum && j < s.operands.size(); ++j)
        needed = needed || (j != k && has_gradient_[index(s.operands[j].tensor)]);
      if (needed) is_needed_[index(s.operands[k].tensor)] = true;
    }
  }

  [[nodiscard]] program_statement const* move_of(int tensor) const {
    int const by = made_by(tensor);
    if (by < 0 || p_.statements[index(by)].kind != statement_kind::move) return nullptr;
    return &p_.statements[index(by)];
  }

  // The statement that makes a tensor whose sums stay partial.
  [[nodiscard]] program_statement const* partial_maker(int tensor) const {
    int const by = made_by(tensor);
    return by >= 0 && p_.statements[index(by)].partial ? &p_.statements[index(by)] : nullptr;
  }

  // The mesh axes that divide the axes that an einsum sums.
  [[nodiscard]] mesh_set summed_in(program_statement const& s, axis_rules const& rules) const {
    std::vector<int> const& made = p_.tensors[index(s.result)].axes;
    mesh_set over;
    for (program_operand const& o : s.operands) {
      spec const given = sharding(o.tensor, o.axes, rules);
      for (int d = 0; d < given.rank; ++d)
        if (std::find(made.begin(), made.end(), given.label[d]) == made.end()) over = over | given.over[d].axes();
    }
    return over;
  }

  // The names in `called` of a move's result, in the order of its operand.
  [[nodiscard]] std::vector<int> names_after_move(program_statement const& move, std::vector<int> const& called) const {
    std::vector<int> const& result = p_.tensors[index(move.result)].axes;
    std::vector<int> names;
    for (int a : move.operands[0].axes)
      for (std::size_t d = 0; d < result.size(); ++d)
        if (result[d] == a) names.push_back(called[d]);
    return names;
  }

  // The mesh axes that divide axes that products of the tensor have and the tensor lacks.
  [[nodiscard]] mesh_set summed_by_products(int tensor, axis_rules const& rules) const {
    mesh_set over;
    for (int user : used_by(tensor)) {
      program_statement const& s = p_.statements[index(user)];
      program_tensor const& made = p_.tensors[index(s.result)];
      if (s.kind == statement_kind::move) continue;
      for (program_operand const& o : s.operands) {
        if (o.tensor != tensor) continue;
        spec const r = sharding(s.result, made.axes, rules);
        for (int d = 0; d < r.rank; ++d)
          if (std::find(o.axes.begin(), o.axes.end(), r.label[d]) == o.axes.end()) over = over | r.over[d].axes();
      }
    }
    return over;
  }

  static void add(std::vector<int>& axes, std::vector<int> const& more) {
    for (int a : more)
      if (std::find(axes.begin(), axes.end(), a) == axes.end()) axes.push_back(a);
  }

  program const& p_;
  std::vector<int> made_by_;
  std::vector<bool> has_gradient_;
  std::vector<bool> is_needed_;
  std::vector<std::vector<int>> used_by_;
};

}  // namespace ostraka::planner
