// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The product of two tensors without communication: its result, or the cell of the table that forbids it. b
/// is a label of both operands and the result; j is a label of both operands that is summed; i and k are labels of one
/// operand and the result.
///
///     A \ B    R      S(b)   S(j)   S(k)   P
///     R        R      S(b)   P      S(k)   P
///     S(b)     S(b)   S(b)   –      –      –
///     S(i)     S(i)   –      –      –      –
///     S(j)     P      –      P      –      –
///     P        P      –      –      –      –

#include <initializer_list>

#include <ostraka/plan/spec/state.hpp>

namespace ostraka::planner {

/// The reasons why two tensors cannot be multiplied in place. Each has a reason type of the same name.
enum class contract_fault {
  none,
  contracted_axis_split_differently,
  batch_axis_split_differently,
  batch_axis_meets_contracted_axis,
  batch_axis_meets_outer_axis,
  outer_axis_meets_contracted_axis,
  outer_axes_meet,
  partial_meets_batch_axis,
  partial_meets_contracted_axis,
  partial_meets_outer_axis,
  partial_meets_partial,
  result_would_be_partial
};

/// The fault with its culprits by number (−1 for none), or the result.
struct contract_finding {
  contract_fault fault = contract_fault::none;
  int label = -1;
  int other_label = -1;
  int mesh_axis = -1;
  spec result{};
};

namespace detail {

enum class role { batch, outer, contracted };

class contract_check {
 public:
  constexpr contract_check(spec const& left, spec const& right, bool const (&summed)[max_labels])
      : left_(left), right_(right), summed_(summed) {}

  constexpr contract_finding run() const {
    for (bool contracted : {true, false})
      for (int i = 0; i < left_.rank; ++i) {
        int const k = right_.find(left_.label[i]);
        if (k < 0 || summed_[left_.label[i]] != contracted) continue;
        if (left_.over[i].starts_with(right_.over[k]) || right_.over[k].starts_with(left_.over[i])) continue;
        return {contracted ? contract_fault::contracted_axis_split_differently
                           : contract_fault::batch_axis_split_differently,
                left_.label[i],
                -1,
                -1,
                {}};
      }
    mesh_set const used = left_.uses() | right_.uses();
    for (int m = 0; m < max_mesh_axes; ++m) {
      if (!used.contains(m)) continue;
      contract_finding const f = cell(state_of(left_, m), state_of(right_, m), m);
      if (f.fault != contract_fault::none) return f;
    }
    return {contract_fault::none, -1, -1, -1, result()};
  }

 private:
  [[nodiscard]] constexpr role role_of(int label) const {
    if (summed_[label]) return role::contracted;
    return left_.find(label) >= 0 && right_.find(label) >= 0 ? role::batch : role::outer;
  }

  // One cell of the table above.
  [[nodiscard]] constexpr contract_finding cell(axis_state a, axis_state b, int m) const {
    switch (meets(a, b)) {
      case meeting::both_replicated: return {};
      case meeting::both_partial: return {contract_fault::partial_meets_partial, -1, -1, m, {}};
      case meeting::partial_and_replicated: return {contract_fault::result_would_be_partial, -1, -1, m, {}};
      case meeting::partial_and_split: return partial_meets(a.is_split() ? a.label() : b.label(), m);
      case meeting::on_two_labels: return labels_meet(a.label(), b.label(), m);
      case meeting::on_one_label: break;
    }
    int const label = a.is_split() ? a.label() : b.label();
    if (role_of(label) != role::contracted) return {};
    return {contract_fault::result_would_be_partial, label, -1, m, {}};
  }

  [[nodiscard]] constexpr contract_finding labels_meet(int a, int b, int m) const {
    role const ra = role_of(a);
    role const rb = role_of(b);
    if (ra == role::batch || rb == role::batch) {
      int const batch = ra == role::batch ? a : b;
      int const other = ra == role::batch ? b : a;
      switch (role_of(other)) {
        case role::batch: return {contract_fault::batch_axis_split_differently, batch, -1, m, {}};
        case role::contracted: return {contract_fault::batch_axis_meets_contracted_axis, batch, other, m, {}};
        default: return {contract_fault::batch_axis_meets_outer_axis, batch, other, m, {}};
      }
    }
    if (ra == role::outer && rb == role::outer) return {contract_fault::outer_axes_meet, a, b, m, {}};
    if (ra == role::outer) return {contract_fault::outer_axis_meets_contracted_axis, a, b, m, {}};
    if (rb == role::outer) return {contract_fault::outer_axis_meets_contracted_axis, b, a, m, {}};
    return {contract_fault::contracted_axis_split_differently, a, -1, m, {}};
  }

  [[nodiscard]] constexpr contract_finding partial_meets(int label, int m) const {
    switch (role_of(label)) {
      case role::batch: return {contract_fault::partial_meets_batch_axis, label, -1, m, {}};
      case role::contracted: return {contract_fault::partial_meets_contracted_axis, label, -1, m, {}};
      default: return {contract_fault::partial_meets_outer_axis, label, -1, m, {}};
    }
  }

  // The labels of the left operand that are not summed, then those of the right one. Each is divided as in the operand
  // that divides it more.
  [[nodiscard]] constexpr spec result() const {
    spec r;
    for (int i = 0; i < left_.rank; ++i)
      if (!summed_[left_.label[i]]) {
        int const k = right_.find(left_.label[i]);
        r.push_back(left_.label[i],
                    k >= 0 && right_.over[k].size() > left_.over[i].size() ? right_.over[k] : left_.over[i]);
      }
    for (int k = 0; k < right_.rank; ++k)
      if (!summed_[right_.label[k]] && left_.find(right_.label[k]) < 0) r.push_back(right_.label[k], right_.over[k]);
    return r;
  }

  spec const& left_;
  spec const& right_;
  bool const (&summed_)[max_labels];
};

}  // namespace detail

/// The one result that needs no communication and is not partial, or the fault.
[[nodiscard]] constexpr contract_finding find_contract(spec const& left, spec const& right,
                                                       bool const (&summed)[max_labels]) {
  return detail::contract_check(left, right, summed).run();
}

}  // namespace ostraka::planner
