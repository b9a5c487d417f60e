// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The plan that keeps within a limit of workspace: the planner's own plan, in passes if necessary
/// (passes.hpp). If that does not fit in any number of passes, it is the cheapest plan that fits among all work
/// partitions of the product.
///
///     C[I_X, K] = A[I, J] · B[J_X, K]      the planner's: sums over parts of J, scattered; over K, by columns
///                                          within less: B gathered; over J, by rows
///
/// A work partition has, for each mesh axis, the label by which it divides the product and its position among the mesh
/// axes on that label, or the operand that stays partial.

#include <cstdint>
#include <limits>

#include <ostraka/plan/reshard/plan_reshard.hpp>
#include <ostraka/plan/search/einsum_problem.hpp>
#include <ostraka/plan/search/price.hpp>
#include <ostraka/plan/spec/ring.hpp>
#include <ostraka/plan/workspace/passes.hpp>

namespace ostraka::planner {

/// The limits of a plan.
struct plan_bounds {
  std::int64_t workspace = 0;                                     ///< elements, on the device with the largest blocks
  std::int64_t moved = std::numeric_limits<std::int64_t>::max();  ///< elements, of all devices together
};

/// The bounds for limits in bytes per device and elements of `element_bytes` bytes.
[[nodiscard]] constexpr plan_bounds bounds_of(std::int64_t workspace, std::int64_t budget, int element_bytes,
                                              extents const& e) {
  plan_bounds b{workspace / element_bytes};
  if (budget < b.moved / e.devices()) b.moved = budget * e.devices() / element_bytes;
  return b;
}

/// A plan, and the passes by which it keeps within its bounds or comes nearest to them.
struct fitted_plan {
  einsum_plan plan{};
  pass_choice passes{};
};

namespace detail {

// With more partitions than this, a mesh axis tries only labels that it divides in an operand or in the result.
inline constexpr double most_divisions = 256;

// Searches the work partitions of a product of one or two operands.
class fitting_search {
 public:
  constexpr fitting_search(einsum_plan const& first, pass_choice const& passes, extents const& e,
                           plan_bounds const& bounds)
      : first_(first), e_(e), bounds_(bounds), best_{first, passes} {
    double divisions = 1;
    for (int m = 0; m < e.mesh_axes; ++m) divisions *= labels_of_operands() + 1;
    all_labels_ = divisions <= most_divisions;
  }

  [[gnu::cold]] constexpr fitted_plan run() {
    divide(0);
    return best_;
  }

 private:
  constexpr int labels_of_operands() const {
    int n = 0;
    for (int l = 0; l < e_.labels; ++l) n += in_operands(l) ? 1 : 0;
    return n;
  }

  constexpr bool in_operands(int label) const {
    for (spec const& s : first_.operands)
      if (s.find(label) >= 0) return true;
    return false;
  }

  constexpr bool divides(int mesh_axis, int label) const {
    auto const in = [&](spec const& s) {
      return s.find(label) >= 0 && s.over[s.find(label)].axes().contains(mesh_axis);
    };
    for (spec const& s : first_.operands)
      if (in(s)) return true;
    return in(first_.result);
  }

  // Decides for mesh axis m and those after it.
  [[gnu::cold]] constexpr void divide(int m) {
    if (m == e_.mesh_axes) return consider();
    divide(m + 1);
    for (int k = 0; k < first_.operands.size(); ++k)
      if (first_.operands[k].partial.contains(m)) {
        mesh_set const before = kept_[k];
        kept_[k].insert(m);
        divide(m + 1);
        kept_[k] = before;
      }
    for (int l = 0; l < e_.labels; ++l) {
      if (!in_operands(l) || (!all_labels_ && !divides(m, l))) continue;
      mesh_order const before = over_[l];
      for (int at = 0; at <= before.size(); ++at) {
        over_[l].insert(at, m);
        divide(m + 1);
        over_[l] = before;
      }
    }
  }

  // A tensor under the current partition.
  [[gnu::cold]] constexpr spec divided(spec s, mesh_set partial) const {
    for (int i = 0; i < s.rank; ++i) s.over[i] = over_[s.label[i]];
    s.partial = partial;
    return s;
  }

  [[gnu::cold]] constexpr einsum_plan plan_of_division() const {
    einsum_plan plan = first_;
    plan.steps.count = 0;
    mesh_set dividing;
    mesh_set partial;
    for (int l = 0; l < e_.labels; ++l) {
      dividing = dividing | over_[l].axes();
      if (first_.result.find(l) < 0) partial = partial | over_[l].axes();
    }
    for (int k = 0; k < plan.operands.size(); ++k) {
      partial = partial | kept_[k];
      for (planned_step const& s :
           plan_reshard(plan.operands[k], divided(plan.operands[k], kept_[k]), e_, k, slicing::before))
        plan.steps.push_back(s);
    }
    spec made = divided(plan.result, partial);
    made.kind = plan.how;
    plan.steps.push_back(
        {step::contract, the_result, dividing, made, made, 0, plan.operands.size() > 1 ? 1 : no_tensor});
    for (planned_step const& s : plan_reshard(made, plan.result, e_, the_result, slicing::of_target))
      plan.steps.push_back(s);
    name_rings(plan);
    return plan;
  }

  // Keeps the cheapest plan that fits; until one fits, the plan with the least workspace.
  [[gnu::cold]] constexpr void consider() {
    einsum_plan const plan = plan_of_division();
    std::int64_t const moved = plan.elements_moved(e_);
    double const price = price_of(plan, e_);
    if (moved > bounds_.moved || (best_.passes.fits && (price > price_ || (price == price_ && moved >= moved_))))
      return;
    pass_choice const passes = choose_passes(plan, e_, bounds_.workspace);
    if (passes.fits ? false : best_.passes.fits || passes.workspace >= best_.passes.workspace) return;
    best_ = {plan, passes};
    price_ = price;
    moved_ = moved;
  }

  einsum_plan const& first_;
  extents const& e_;
  plan_bounds bounds_;
  bool all_labels_ = true;
  mesh_order over_[max_labels]{};
  mesh_set kept_[max_operands]{};
  fitted_plan best_;
  double price_ = 0;
  std::int64_t moved_ = 0;
};

// True if there are other partitions to try. A policy that fixes the moves leaves none, nor does a reshard. With more
// than two operands only the cheapest plan is considered.
constexpr bool has_other_divisions(einsum_plan const& plan) {
  return plan.rule == admit::any && plan.operands.size() <= 2 && plan.computes();
}

}  // namespace detail

/// Returns the plan itself if it fits. Otherwise it is the cheapest for these extents among the plans that divide the
/// product in another way and fit: by the planner's price, then by elements moved, then the first. If none fits, it is
/// the one that needs the least workspace.
[[nodiscard, gnu::cold]] constexpr fitted_plan fit_plan(einsum_plan const& plan, extents const& e,
                                                        plan_bounds const& bounds) {
  pass_choice const passes = choose_passes(plan, e, bounds.workspace);
  if (passes.fits || !detail::has_other_divisions(plan)) return {plan, passes};
  return detail::fitting_search(plan, passes, e, bounds).run();
}

}  // namespace ostraka::planner
