// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Several tensors, element by element: the result has all labels of the operands, each split as in the
/// operand that splits it most. Other operands are sliced, and repeated along labels that they lack. Nothing is moved.
///
///     A              B              result
///     [I_X, J]       [I_X, J]       [I_X, J]
///     [I_X, J]       [J]            [I_X, J]      repeated along I
///     [I_X, J]       [I, J]         [I_X, J]      B sliced
///     [I_X]          [I_Y]          –             moved first
///     [I_X]          [J_X]          –             a device would hold the diagonal blocks only
///
/// Partial tensors are accepted along each mesh axis along which the operation preserves their parts
/// (types/shardings/preserves.hpp). ⊕ and ⊗ are kinds:
///
///     [I] {⊕_X}      [I] {⊕_X}      [I] {⊗_X}     if it keeps ⊕ together, as ⊗                 + of sums
///     [I] {⊕_X}      [I]            [I] {⊗_X}     if it keeps ⊕ in the left operand, as ⊗       × of a sum
///     [I] {max_X}    [I]            [I] {⊗_X}     if it keeps max together: B is max over X of B (so min, and, or)
///     [I] {⊕_X}      [I_X]          –             a part that is sliced loses the others
///     [I] {⊕_X}      [I] {max_X}    –             two kinds meet
///     [I] {⊕_X}      [I] {⊕_Y}      [I] {⊗_XY}    each along its own mesh axis, if both make one kind

#include <bit>

#include <ostraka/plan/spec/step.hpp>
#include <ostraka/types/shardings/preserves.hpp>

namespace ostraka::planner {

/// The reasons why tensors cannot be combined element by element. Each has a reason type of the same name.
enum class map_fault {
  none,
  axis_split_differently,
  mesh_axis_on_two_axes,
  partial_in_nonlinear_operation,
  partial_kinds_meet,
  partial_meets_divided_axis,
  partial_plus_replicated,
  partials_multiplied
};

/// The fault with its culprits by number, or the result.
struct map_finding {
  map_fault fault = map_fault::none;
  int label = -1;
  int other_label = -1;
  int mesh_axis = -1;
  int operand = -1;        ///< the operand that splits the label in one way, or is partial
  int other_operand = -1;  ///< the operand that splits it in another way, or is partial by another kind
  spec result{};
};

using operand_specs = bounded_list<spec, 8>;

namespace detail {

// True if equal parts combine to the value itself.
constexpr bool is_idempotent(reduction kind) { return kind != reduction::sum && kind != reduction::prod; }

class map_check {
 public:
  constexpr map_check(operand_specs const& operands, preservations const& rules) : operands_(operands), rules_(rules) {}

  constexpr map_finding run() {
    // Partial operands of an operation that keeps no parts of their kind are reported first, as the most likely
    // mistake.
    mesh_set partial;
    for (int k = 0; k < operands_.size(); ++k) {
      mesh_set const own = operands_[k].partial;
      if (!own.empty() && !rules_[operands_[k].kind].any())
        return {map_fault::partial_in_nonlinear_operation, -1, -1, std::countr_zero(own.bits), k, -1, {}};
      partial = partial | own;
    }
    if (!divide()) return found_;
    for (int m = 0; m < max_mesh_axes; ++m)
      if (partial.contains(m) && !combine(m)) return found_;
    return found_;
  }

 private:
  // Collects the labels of the result and the mesh axes that divide them.
  constexpr bool divide() {
    spec& r = found_.result;
    for (int k = 0; k < operands_.size(); ++k) {
      spec const& s = operands_[k];
      for (int i = 0; i < s.rank; ++i) {
        int const at = r.find(s.label[i]);
        if (at < 0) {
          from_[r.rank] = k;
          r.push_back(s.label[i], s.over[i]);
        } else if (s.over[i].starts_with(r.over[at])) {
          if (s.over[i] != r.over[at]) from_[at] = k;
          r.over[at] = s.over[i];
        } else if (!r.over[at].starts_with(s.over[i])) {
          return fail({map_fault::axis_split_differently, s.label[i], -1, -1, from_[at], k, {}});
        }
      }
    }
    for (int m = 0; m < max_mesh_axes; ++m)
      if (r.splits().contains(m) && !on_one_label(m)) return false;
    return true;
  }

  // True if the mesh axis splits the same label in every operand that it divides.
  constexpr bool on_one_label(int m) {
    axis_state so_far;
    for (int k = 0; k < operands_.size(); ++k) {
      axis_state const own = state_of(operands_[k], m);
      if (!own.is_split()) continue;
      if (meets(so_far, own) == meeting::on_two_labels) {
        bool const in_order = found_.result.find(so_far.label()) < found_.result.find(own.label());
        axis_state const first = in_order ? so_far : own;
        axis_state const second = in_order ? own : so_far;
        return fail({map_fault::mesh_axis_on_two_axes, first.label(), second.label(), m, -1, -1, {}});
      }
      so_far = own;
    }
    return true;
  }

  // Makes the result partial along one mesh axis.
  // @pre some operand is partial along it
  constexpr bool combine(int m) {
    int first = -1;
    int partial = 0;
    for (int k = 0; k < operands_.size(); ++k) {
      if (!operands_[k].partial.contains(m)) continue;
      if (first < 0) first = k;
      if (operands_[k].kind != operands_[first].kind)
        return fail({map_fault::partial_kinds_meet, -1, -1, m, first, k, {}});
      ++partial;
    }
    if (axis_state const s = state_of(found_.result, m); meets(axis_state::partial(), s) == meeting::partial_and_split)
      return fail({map_fault::partial_meets_divided_axis, s.label(), -1, m, first, -1, {}});
    reduction const kind = operands_[first].kind;
    outcome const made = outcome_of(kind, first, partial);
    if (!made.kept) return fail({why_not(m, kind, partial), -1, -1, m, first, -1, {}});
    if (maker_ >= 0 && made.kind != found_.result.kind)
      return fail({map_fault::partial_kinds_meet, -1, -1, m, maker_, first, {}});
    maker_ = first;
    found_.result.partial.insert(m);
    found_.result.kind = made.kind;
    return true;
  }

  [[nodiscard]] constexpr outcome outcome_of(reduction kind, int first, int partial) const {
    if (rules_[kind].together.kept && (partial == operands_.size() || is_idempotent(kind)))
      return rules_[kind].together;
    return partial == 1 ? rules_[kind].alone[first] : outcome{};
  }

  [[nodiscard]] constexpr map_fault why_not(int m, reduction kind, int partial) const {
    if (rules_[kind].together.kept) return map_fault::partial_plus_replicated;
    for (int k = 0; k < operands_.size(); ++k)
      if (partial > 1 && operands_[k].partial.contains(m) && rules_[kind].alone[k].kept)
        return map_fault::partials_multiplied;
    return map_fault::partial_in_nonlinear_operation;
  }

  constexpr bool fail(map_finding const& why) {
    found_ = why;
    return false;
  }

  operand_specs const& operands_;
  preservations const& rules_;
  int from_[max_labels]{};  // the operand from which a label of the result takes its mesh axes
  int maker_ = -1;          // the operand that makes the result partial
  map_finding found_{};
};

}  // namespace detail

/// The one result that needs no communication, or the fault. `rules` says how the operation treats parts.
[[nodiscard]] constexpr map_finding find_map(operand_specs const& operands, preservations const& rules = {}) {
  return detail::map_check(operands, rules).run();
}

}  // namespace ostraka::planner
