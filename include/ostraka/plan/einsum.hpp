// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The einsum planner: by which labels the local work is divided along each mesh axis, what that asks of the operands,
/// and what takes the result to the sharding that was named. All mesh axes are chosen together.
///
/// Dividing the work along a mesh axis by one label (or by none) asks, on that mesh axis:
///
///     divided by     operand with the label   operand without   local result
///     none           R                        R                 R
///     none, A kept   —                        A: P, others: R   P
///     b or i or k    S(label)                 R                 S(label)
///     j (summed)     S(j)                     R                 P
///
/// Every division is tried, in every order of several mesh axes on one label; reshard.hpp says what the moves cost.
/// The same function plans a reduction or a reshard: an einsum of one operand.

#include <initializer_list>

#include <ostraka/plan/plan.hpp>
#include <ostraka/plan/policy.hpp>
#include <ostraka/plan/reshard.hpp>

namespace ostraka::planner {

/// What is to be planned.
struct einsum_problem {
  bounded_list<spec, max_operands> operands{};
  spec result{};
  extents sizes{};  ///< to decide on; nominal where not known
  admit rule = admit::any;
};

/// From so many mesh axes on, each is tried only on labels that it divides in an operand or in the result, at the minor end.
inline constexpr int many_mesh_axes = 4;

namespace detail {

// How the local work is divided.
struct division {
  mesh_order by[max_labels]{};
  int kept[max_mesh_axes]{};  // 1 + operand that stays partial, 0 for none
  mesh_set divided{};
};

class einsum_search {
 public:
  constexpr explicit einsum_search(einsum_problem const& problem) : problem_(problem) {
    for (int k = 0; k < problem.operands.size(); ++k)
      for (int i = 0; i < problem.operands[k].rank; ++i) present_[problem.operands[k].label[i]] = true;
  }

  constexpr einsum_plan run() {
    // First only what is likely, for a bound that spares the search most of its work.
    likely_only_ = true;
    search();
    if (problem_.sizes.mesh_axes < many_mesh_axes) {
      bound_ = volume_;
      likely_only_ = false;
      search();
    }
    einsum_plan plan;
    plan.operands = problem_.operands;
    plan.result = problem_.result;
    plan.sizes = problem_.sizes;
    plan.feasible = volume_ < unbounded;
    if (plan.feasible) write(plan);
    return plan;
  }

 private:
  constexpr void search() {
    volume_ = unbounded;
    division d;
    divide(d, 0);
  }

  // Decides for mesh axis m and the ones after it.
  constexpr void divide(division& d, int m) {
    if (m == problem_.sizes.mesh_axes || m == max_mesh_axes) return consider(d);
    divide(d, m + 1);
    for (int k = 0; k < problem_.operands.size(); ++k)
      if (problem_.operands[k].partial.contains(m)) {
        d.kept[m] = k + 1;
        divide(d, m + 1);
        d.kept[m] = 0;
      }
    d.divided.insert(m);
    for (int l = 0; l < problem_.sizes.labels; ++l) {
      if (!worth_trying(l, m)) continue;
      mesh_order const before = d.by[l];
      for (int at = likely_only_ ? before.size() : 0; at <= before.size(); ++at) {
        d.by[l].insert(at, m);
        divide(d, m + 1);
        d.by[l] = before;
      }
    }
    d.divided = d.divided - mesh_set::of(m);
  }

  // Likely are the labels that the mesh axis divides in an operand or in the result; for an idle one, all.
  [[nodiscard]] constexpr bool worth_trying(int label, int m) const {
    if (!present_[label]) return false;
    if (!likely_only_) return true;
    bool used = problem_.result.find(label) >= 0 && problem_.result.over[problem_.result.find(label)].axes().contains(m);
    bool idle = true;
    for (int k = 0; k < problem_.operands.size(); ++k) {
      spec const& s = problem_.operands[k];
      used = used || (s.find(label) >= 0 && s.over[s.find(label)].axes().contains(m));
      idle = idle && !s.uses().contains(m);
    }
    return used || idle;
  }

  // What the division asks of operand k.
  [[nodiscard]] constexpr spec asked(division const& d, int k) const {
    spec s = problem_.operands[k];
    s.partial = {};
    for (int i = 0; i < s.rank; ++i) s.over[i] = d.by[s.label[i]];
    for (int m = 0; m < problem_.sizes.mesh_axes; ++m)
      if (d.kept[m] == k + 1) s.partial.insert(m);
    return s;
  }

  // What the local contraction gives.
  [[nodiscard]] constexpr spec given(division const& d) const {
    spec s = problem_.result;
    s.partial = d.divided;
    for (int i = 0; i < s.rank; ++i) {
      s.over[i] = d.by[s.label[i]];
      s.partial = s.partial - s.over[i].axes();
    }
    for (int m = 0; m < problem_.sizes.mesh_axes; ++m)
      if (d.kept[m] != 0) s.partial.insert(m);
    return s;
  }

  constexpr void consider(division const& d) {
    double volume = 0;
    int touched = 0;  // operands and result that are not taken as they are
    for (bool partial : {false, true})  // searching how to reduce is dear, so first what is not partial
      for (int k = 0; k < problem_.operands.size(); ++k) {
        spec const& from = problem_.operands[k];
        if (from.partial.empty() == partial) continue;
        spec const target = asked(d, k);
        if (target == from) continue;
        volume += reshard_volume(from, target, problem_.sizes, true, beyond(volume));
        ++touched;
        if (volume > limit()) return;
      }
    spec const result = given(d);
    if (!(result == problem_.result)) {
      volume += reshard_volume(result, problem_.result, problem_.sizes, false, beyond(volume));
      ++touched;
    }
    if (volume > limit()) return;
    double const share = 1.0 / static_cast<double>(problem_.sizes.ways(d.divided));  // of the flops, per device
    bool const better = volume < volume_ || (volume == volume_ && (share < share_ || (share == share_ && touched < touched_)));
    if (!better || !admitted(d)) return;
    best_ = d;
    volume_ = volume;
    share_ = share;
    touched_ = touched;
  }

  // What no plan that is worth keeping exceeds.
  [[nodiscard]] constexpr double limit() const { return volume_ < bound_ ? volume_ : bound_; }

  // From here on another volume is too much; somewhat more than what is left, so that ties are still told apart.
  [[nodiscard]] constexpr double beyond(double volume) const { return (limit() - volume) * 1.0625 + 1; }

  [[nodiscard]] constexpr bool admitted(division const& d) const {
    switch (problem_.rule) {
      case admit::any: return true;
      case admit::gather_left: return gathers(d, 0) && still(d, 1) && result_still(d);
      case admit::gather_right: return still(d, 0) && gathers(d, 1) && result_still(d);
      case admit::reduce_result: return still(d, 0) && still(d, 1) && !result_still(d);
      case admit::no_communication: return still(d, 0) && still(d, 1) && result_still(d);
    }
    return false;
  }

  [[nodiscard]] static constexpr bool moves_nothing(reshard_steps const& steps) {
    for (planned_step const& s : steps)
      if (communicates(s.kind)) return false;
    return true;
  }

  [[nodiscard]] constexpr reshard_steps operand_steps(division const& d, int k) const {
    return plan_reshard(problem_.operands[k], asked(d, k), problem_.sizes, k);
  }

  [[nodiscard]] constexpr bool still(division const& d, int k) const {
    return k >= problem_.operands.size() || moves_nothing(operand_steps(d, k));
  }

  [[nodiscard]] constexpr bool result_still(division const& d) const {
    return moves_nothing(plan_reshard(given(d), problem_.result, problem_.sizes, the_result, false));
  }

  [[nodiscard]] constexpr bool gathers(division const& d, int k) const {
    if (k >= problem_.operands.size()) return false;
    bool gathered = false;
    for (planned_step const& s : operand_steps(d, k)) {
      if (communicates(s.kind) && s.kind != step::all_gather) return false;
      gathered = gathered || s.kind == step::all_gather;
    }
    return gathered;
  }

  constexpr void write(einsum_plan& plan) const {
    for (int k = 0; k < problem_.operands.size(); ++k)
      for (planned_step const& s : operand_steps(best_, k)) plan.steps.push_back(s);
    spec const result = given(best_);
    plan.steps.push_back({step::contract, the_result, best_.divided, result, result});
    for (planned_step const& s : plan_reshard(result, problem_.result, problem_.sizes, the_result, false)) plan.steps.push_back(s);
  }

  einsum_problem const& problem_;
  bool present_[max_labels]{};
  division best_{};
  bool likely_only_ = false;
  double bound_ = unbounded;  // on the volume, by a plan that is known
  double volume_ = unbounded;
  double share_ = 0;
  int touched_ = 0;
};

}  // namespace detail

/// The cheapest admitted plan: fewest bytes, then fewest flops, then fewest tensors touched, then the first in the order of the
/// search (per mesh axis: no division, a partial operand kept, labels by number).
/// @pre each label of the result is one of an operand's. `feasible` is false if the rule admits no plan.
[[nodiscard]] constexpr einsum_plan plan_einsum(einsum_problem const& problem) { return detail::einsum_search(problem).run(); }

}  // namespace ostraka::planner
