// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The price of a plan: moves and work together, both summed over all devices.
///
///     price = weight · elements moved + Σ over products of multiplications
///
/// A mesh axis that is not priced counts as if it did not divide the work.
///
/// By default a mesh axis is *priced* in a product if an operand or the named result divides one of the product's
/// labels along it: the work could be divided there, so repeating it has a price. Along other mesh axes, dividing the
/// work has no value, so nothing is moved for it.
///
///     [I, J_X] · [J, K] → [I, K]     X is priced: all_to_all of A to I, all_gather of the result, although a gather
///                                    of A alone would move less
///     [I, J] · [J] → [I]             no mesh axis is priced: no communication
///
/// If a tree of products has a plan without communication, no plan is cheaper: that plan divides the work along every
/// priced mesh axis. Under os::least_time every mesh axis is priced, and the program gives the weight.

#include <ostraka/plan/spec/plan.hpp>

namespace ostraka::planner {

/// The default weight: the number of multiplications in the time of moving one element. It is 100 to 600 on CPUs over a
/// network, and 2,000 to 5,000 on accelerators over their own links (docs/design/planner.md). It is per element,
/// because a device that multiplies half-size elements twice as fast also moves twice as many. It is a power of two, so
/// that products with it are exact.
inline constexpr double multiplications_per_element = 1024;

/// The weight of a problem or plan with this `element_weight`.
[[nodiscard]] constexpr double weight_of_elements(double element_weight) {
  return element_weight > 0 ? element_weight : multiplications_per_element;
}

/// True if work is priced along every mesh axis. If nothing may move, plans are compared by their whole work.
[[nodiscard]] constexpr bool prices_all_work(double element_weight, admit rule) {
  return element_weight > 0 || rule == admit::no_communication;
}

/// The price of a plan for any extents, not only those for which it was made. It assumes that all blocks are as large
/// as the largest.
[[nodiscard, gnu::cold]] constexpr double price_of(einsum_plan const& plan, extents const& e) {
  mesh_set dividing[max_labels]{};  // each label in an operand or in the result
  auto const add = [&](spec const& s) {
    for (int i = 0; i < s.rank; ++i) dividing[s.label[i]] = dividing[s.label[i]] | s.over[i].axes();
  };
  for (spec const& s : plan.operands) add(s);
  add(plan.result);
  double price = 0;
  tensor_states tensors(plan);
  for (planned_step const& s : plan.steps) {
    if (contracts(s.kind)) {
      spec const& left = tensors.of(s.left);
      spec const* const right = s.right == no_tensor ? nullptr : &tensors.of(s.right);
      mesh_set priced;
      for (spec const* factor : {&left, right})
        for (int i = 0; factor != nullptr && i < factor->rank; ++i) priced = priced | dividing[factor->label[i]];
      mesh_set const divided = left.splits() | (right != nullptr ? right->splits() : mesh_set{});
      mesh_set const free = prices_all_work(plan.element_weight, plan.rule) ? mesh_set{} : divided - priced;
      price +=
          static_cast<double>(detail::products_of(left, right, e)) * static_cast<double>(e.devices() * e.ways(free));
    }
    tensors.after(s);
  }
  return price + weight_of_elements(plan.element_weight) * static_cast<double>(plan.elements_moved(e));
}

}  // namespace ostraka::planner
