// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A plan: the steps of one operation as a value, and their cost at given extents.

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/plan/spec/policy.hpp>
#include <ostraka/plan/spec/step.hpp>

namespace ostraka::planner {

/// The most tensors of one operation: operands, intermediates and the result.
inline constexpr int max_tensors = 2 * max_operands;

/// The most steps of a plan. An operand or an intermediate on its way into a contraction has at most a slice, a
/// reduce-scatter, an all-reduce, another slice and an exchange.
inline constexpr int max_plan_steps = (max_tensors - 2) * 5 + max_reshard_steps + max_operands - 1;

/// The steps of an einsum, a reduction or a reshard, in an order in which they can run: moves of operands, local
/// contractions of two tensors (of one, in a reduction), and moves of the resulting tensors.
struct einsum_plan {
  bounded_list<spec, max_operands> operands{};  ///< the shardings of the operands, as values
  spec result{};                                ///< the sharding of the result
  extents sizes{};                              ///< the sizes for which the plan was made
  reduction how = reduction::sum;  ///< how labels are reduced
  double element_weight = 0;       ///< in multiplications, as in the einsum_problem
  admit rule = admit::any;         ///< the rule by which the plan was chosen
  int directions = 0;  ///< of the rings that contractions with a move next to them become (ring.hpp); 0: none
  bool feasible = false;        ///< true if there is a plan; always true for the result of os::plan
  bool copied[max_operands]{};  ///< true for operands that begin as copies padded with zeros: diagonals that are split
  bounded_list<planned_step, max_plan_steps> steps{};  ///< the steps, in order

  /// Number of steps of a kind.
  [[nodiscard]] constexpr int count(step kind) const {
    int n = 0;
    for (planned_step const& s : steps) n += s.kind == kind ? 1 : 0;
    return n;
  }

  /// True if the plan contracts something; otherwise it is a reshard.
  [[nodiscard]] constexpr bool computes() const {
    for (planned_step const& s : steps)
      if (contracts(s.kind)) return true;
    return false;
  }

  /// The number of steps that move bytes between devices.
  [[nodiscard]] constexpr int communications() const {
    int n = 0;
    for (planned_step const& s : steps) n += communicates(s.kind) ? 1 : 0;
    return n;
  }

  /// The number of elements moved, added over all devices; exact, also for uneven blocks.
  [[nodiscard, gnu::cold]] constexpr std::int64_t elements_moved(extents const& e) const {
    std::int64_t n = 0;
    for (planned_step const& s : steps) n += planner::elements_moved(s, e);
    return n;
  }

  /// The number of multiplications and additions on the device with the largest blocks.
  [[nodiscard]] constexpr std::int64_t flops(extents const& e) const;
};

/// The index of a tensor in a list by tensor: operands and intermediates at their numbers, the result last.
[[nodiscard]] constexpr int slot_of(int tensor) { return tensor == the_result ? max_tensors - 1 : tensor; }

/// The shardings of a plan's tensors while its steps are walked: call `after(s)` for one step after the other.
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

// The number of multiplications of a contraction of the largest local blocks.
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

/// Bytes per device if all devices together move `elements`, rounded up.
[[nodiscard]] constexpr std::int64_t bytes_per_device(std::int64_t elements, int element_bytes, extents const& e) {
  return (elements * element_bytes + e.devices() - 1) / e.devices();
}

}  // namespace ostraka::planner
