// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The einsum planner. It chooses the label by which the local work is partitioned along each mesh axis, the
/// shardings that the operands need for that, and the moves that take the result to the named sharding. It chooses for
/// all mesh axes together.
///
/// Partitioning the work along a mesh axis by one label (or by none) needs these states along that mesh axis:
///
///     divided by     operand with the label   operand without   local result
///     none           R                        R                 R
///     none, A kept   —                        A: P, others: R   P
///     b or i or k    S(label)                 R                 S(label)
///     j (summed)     S(j)                     R                 P
///
/// The planner tries every partition, in every order of several mesh axes on one label (partition_search.hpp), for
/// every order of products of more than two operands (contraction_order.hpp). The same function plans a reduction or a
/// reshard: an einsum of one operand.

#include <ostraka/plan/reshard/plan_reshard.hpp>
#include <ostraka/plan/search/contraction_order.hpp>
#include <ostraka/plan/search/einsum_problem.hpp>
#include <ostraka/plan/search/partition_search.hpp>
#include <ostraka/plan/spec/ring.hpp>

namespace ostraka::planner {

namespace detail {

class einsum_search {
 public:
  constexpr einsum_search(einsum_problem const& problem, search_effort effort, label_sets const& labels,
                          partition_search& partitions)
      : problem_(problem), effort_(effort), labels_(labels), partitions_(partitions) {}

  [[gnu::cold]] constexpr einsum_plan run() {
    if (effort_.all_orders)
      try_all();
    else
      for (double weight : {0.0, 1.0, multiplications_per_element}) attempt(best_order(labels_, weight).order);
    einsum_plan plan;
    plan.operands = problem_.operands;
    plan.result = problem_.result;
    plan.sizes = problem_.sizes;
    plan.how = problem_.how;
    plan.rule = problem_.rule;
    plan.element_weight = problem_.element_weight;
    plan.directions = problem_.directions;
    plan.feasible = best_.price < unbounded;
    if (plan.feasible) write(plan);
    return plan;
  }

 private:
  // Tries all orders by increasing least work, until that work alone costs too much.
  [[gnu::cold]] constexpr void try_all() {
    int const count = number_of_orders(problem_.operands.size());
    if (count == 1) return attempt(order_number(0, problem_.operands.size()));
    double work[most_orders]{};
    for (int i = 0; i < count; ++i) work[i] = least_work(order_number(i, problem_.operands.size()), labels_);
    for (int tried = 0; tried < count; ++tried) {
      int next = 0;
      for (int i = 1; i < count; ++i)
        if (work[i] < work[next]) next = i;
      if (work[next] == unbounded || work[next] > best_.price) return;
      attempt(order_number(next, problem_.operands.size()));
      work[next] = unbounded;
    }
  }

  [[gnu::cold]] constexpr void attempt(contraction_order const& order) {
    if (order.products == 0 || least_work(order, labels_) > best_.price) return;
    double limit = best_.price;
    // The likely partitions come first. They give a bound that saves much of the search. If there are only a few
    // partitions, as for matrices on two mesh axes, there is little to save.
    int choices = 1;
    for (int m = 0; m < problem_.sizes.mesh_axes; ++m) choices *= problem_.sizes.labels + 1;
    if (effort_.all_partitions && choices > few_choices && limit == unbounded)
      limit = partitions_.run(order, unbounded, true).price;
    partitioned_order const found = partitions_.run(order, limit, false);
    if (found.price < best_.price || (found.price == best_.price && found.volume < best_.volume)) best_ = found;
  }

  // Writes the steps: each product comes after the moves that its factors need.
  [[gnu::cold]] constexpr void write(einsum_plan& plan) const {
    int const n = problem_.operands.size();
    spec now[max_tensors]{};
    for (int k = 0; k < n; ++k) now[k] = problem_.operands[k];
    for (int p = 0; p < best_.order.products; ++p) {
      bool const last = p + 1 == best_.order.products;
      int const factor[2] = {best_.order.left[p], best_.order.right[p]};
      for (int side = 0; side < 2; ++side) {
        if (factor[side] == no_tensor) continue;
        spec& s = now[factor[side]];
        spec const asked = spec_under(s, asked_of_factor(best_.partition[p], label_sets::set_of(s), side));
        if (s == asked) continue;
        for (planned_step const& step : plan_reshard(s, asked, problem_.sizes, factor[side], slicing::before))
          plan.steps.push_back(step);
        s = asked;
      }
      spec made = last ? problem_.result : product_shape(now, factor[0], factor[1], p);
      made.kind = problem_.how;
      made = spec_under(made, given_by_product(best_.partition[p], label_sets::set_of(made)));
      plan.steps.push_back({step::contract, last ? the_result : n + p, split_axes(best_.partition[p]), now[factor[0]],
                            made, factor[0], factor[1]});
      if (!last) now[n + p] = made;
      if (last && !(made == problem_.result))
        for (planned_step const& step :
             plan_reshard(made, problem_.result, problem_.sizes, the_result, slicing::of_target))
          plan.steps.push_back(step);
    }
    name_rings(plan);
  }

  // The labels that product p keeps: those of its left factor, then those of its right one.
  [[nodiscard, gnu::cold]] constexpr spec product_shape(spec const (&now)[max_tensors], int left, int right,
                                                        int p) const {
    label_set later = labels_.result;
    for (int other = 0; other < problem_.operands.size() + p; ++other) {
      bool used = other == left || other == right;
      for (int q = 0; q < p; ++q) used = used || best_.order.left[q] == other || best_.order.right[q] == other;
      if (!used) later |= label_sets::set_of(now[other]);
    }
    spec made;
    for (int which : {left, right})
      for (int i = 0; i < now[which].rank; ++i) {
        int const l = now[which].label[i];
        if ((later >> l & 1) != 0 && made.find(l) < 0) made.push_back(l);
      }
    return made;
  }

  static constexpr int most_orders = 15;
  static constexpr int few_choices = 16;
  einsum_problem const& problem_;
  search_effort effort_;
  label_sets const& labels_;
  partition_search& partitions_;
  partitioned_order best_{};
};

}  // namespace detail

/// The cheapest admitted plan (price.hpp). Ties within one order of products go to the fewest elements moved, then the
/// fewest multiplications, then the fewest tensors touched, then the first in the order of the search (per mesh axis:
/// no partition, a partial operand kept, labels by number). Ties between orders go to the fewest elements moved, then
/// the least undivided work, then the first. `feasible` is false if the rule admits no plan.
/// @pre each label of the result is one of an operand's
[[nodiscard, gnu::cold]] constexpr einsum_plan plan_einsum(einsum_problem const& problem, search_effort effort) {
  detail::label_sets const labels(problem);
  detail::partition_search partitions(problem, labels, effort);
  return detail::einsum_search(problem, effort, labels, partitions).run();
}

/// The same with the effort that is affordable in a compiler.
[[nodiscard]] constexpr einsum_plan plan_einsum(einsum_problem const& problem) {
  return plan_einsum(problem, effort_for(problem.operands.size(), problem.sizes.mesh_axes));
}

}  // namespace ostraka::planner
