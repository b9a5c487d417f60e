// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A plan: the steps of one operation as a value, and what they cost for given extents.

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/plan/spec/policy.hpp>
#include <ostraka/plan/spec/step.hpp>

namespace ostraka::planner {

/// Operands, intermediates and the result of one operation.
inline constexpr int max_tensors = 2 * max_operands;

/// An operand or an intermediate on its way into a contraction has at most a slice, a reduce-scatter, an all-reduce,
/// another slice and an exchange.
inline constexpr int max_plan_steps = (max_tensors - 2) * 5 + max_reshard_steps + max_operands - 1;

/// The steps of an einsum, a reduction or a reshard: moves of operands, local contractions of two tensors (of one, in a
/// reduction), moves of what they give, in an order in which they can be run.
struct einsum_plan {
  bounded_list<spec, max_operands> operands{};
  spec result{};
  extents sizes{};  ///< that it was decided on
  reduction how = reduction::sum;  ///< how labels are reduced
  double element_weight = 0;       ///< in multiplications, as the einsum_problem had it
  admit rule = admit::any;         ///< that it was chosen by
  int directions = 0;  ///< in which contractions go round with a move next to them (ring.hpp); 0: they do not
  bool feasible = false;
  bool copied[max_operands]{};  ///< operands that begin as copies, padded with zeros: diagonals that are split
  bounded_list<planned_step, max_plan_steps> steps{};

  /// Number of steps of a kind.
  [[nodiscard]] constexpr int count(step kind) const {
    int n = 0;
    for (planned_step const& s : steps) n += s.kind == kind ? 1 : 0;
    return n;
  }

  /// Is there a contraction? Else it is a reshard.
  [[nodiscard]] constexpr bool computes() const {
    for (planned_step const& s : steps)
      if (contracts(s.kind)) return true;
    return false;
  }

  /// Number of steps that move bytes between devices.
  [[nodiscard]] constexpr int communications() const {
    int n = 0;
    for (planned_step const& s : steps) n += communicates(s.kind) ? 1 : 0;
    return n;
  }

  /// Elements moved, added over all devices; exact, also for uneven blocks.
  [[nodiscard, gnu::cold]] constexpr std::int64_t elements_moved(extents const& e) const {
    std::int64_t n = 0;
    for (planned_step const& s : steps) n += planner::elements_moved(s, e);
    return n;
  }

  /// Multiplications and additions of the device with the largest blocks.
  [[nodiscard]] constexpr std::int64_t flops(extents const& e) const;
};

/// Where a list by tensor keeps a tensor: operands and intermediates at their numbers, the result last.
[[nodiscard]] constexpr int slot_of(int tensor) { return tensor == the_result ? max_tensors - 1 : tensor; }

/// The tensors of a plan while its steps are walked: `after(s)` is called for one after the other.
struct tensor_states {
  spec now[max_tensors]{};

  template <class Plan>
  [[gnu::cold]] constexpr explicit tensor_states(Plan const& plan) {
    for (int k = 0; k < plan.operands.size(); ++k) now[k] = plan.operands[k];
  }
  [[nodiscard]] constexpr spec const& of(int tensor) const { return now[slot_of(tensor)]; }
  constexpr void after(planned_step const& s) { now[slot_of(s.operand)] = s.to; }
};

namespace detail {

// Products of the largest local blocks that meet in a contraction.
constexpr std::int64_t products_of(spec const& left, spec const* right, extents const& e) {
  std::int64_t n = 1;
  for (spec const* s : {&left, right})
    for (int i = 0; s != nullptr && i < s->rank; ++i)
      if (s == &left || left.find(s->label[i]) < 0) n *= largest_size(e.label[s->label[i]], e.ways(s->over[i]));
  return n;
}

}  // namespace detail

[[gnu::cold]] constexpr std::int64_t einsum_plan::flops(extents const& e) const {
  tensor_states tensors(*this);
  std::int64_t n = 0;
  for (planned_step const& s : steps) {
    if (contracts(s.kind))
      n += 2 * detail::products_of(tensors.of(s.left), s.right == no_tensor ? nullptr : &tensors.of(s.right), e);
    tensors.after(s);
  }
  return n;
}

/// Bytes per device where all devices together move so many elements, rounded up.
[[nodiscard]] constexpr std::int64_t bytes_per_device(std::int64_t elements, int element_bytes, extents const& e) {
  return (elements * element_bytes + e.devices() - 1) / e.devices();
}

}  // namespace ostraka::planner
