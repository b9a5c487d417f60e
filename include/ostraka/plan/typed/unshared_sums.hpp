// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Checks an einsum's types for axes that would be summed on their own (plan/rules/unshared_sum.hpp).

#include <cstdint>

#include <ostraka/plan/rules/unshared_sum.hpp>
#include <ostraka/plan/spec/policy.hpp>
#include <ostraka/plan/typed/to_spec.hpp>
#include <ostraka/types/axes/axis.hpp>
#include <ostraka/types/reasons.hpp>

namespace ostraka::detail {

// The axes as labels. Leaves out axes that are not among the labels, which os::sum_over may name.
template <class Labels, class... Axes>
consteval planner::label_set label_set_of(type_list<Axes...>) {
  return (planner::label_set{0} | ... |
          (position_in<Axes, Labels> < 0 ? 0 : planner::label_set{1} << position_in<Axes, Labels>));
}

// Names the remedy in a reason's arguments: os::rename<From, To> gives both axes one name.
template <class From, class To>
struct rename;

template <class Out, class Asked, class Labels, class... Operands>
struct unshared_sums;

template <class Out, class Asked, class... Labels, class... Operands>
struct unshared_sums<Out, Asked, type_list<Labels...>, Operands...> {
  using labels = type_list<Labels...>;
  static constexpr planner::label_set operands[] = {label_set_of<labels>(axes_in<Operands>{})...};
  static constexpr planner::label_set result = label_set_of<labels>(axes_in<Out>{});
  static constexpr planner::label_set asked = label_set_of<labels>(Asked{});
  static constexpr std::int64_t extents[] = {Labels::extent..., 0};
  static constexpr planner::unshared_sum found =
      planner::find_unshared_sum(operands, sizeof...(Operands), result, asked, extents, dynamic_extent);
  static constexpr int wrong_sum_over = planner::find_wrong_sum_over(operands, sizeof...(Operands), result, asked);

  template <int L>
  using label = typename type_at<labels, L>::type;
  template <int K>
  using operand = sharding_in<typename type_at<type_list<Operands...>, K>::type>;
};

// `Labels` are the axes of all operands.
template <class Out, class Policy, class Labels, class... Operands>
consteval auto check_unshared_sums() {
  using sums = unshared_sums<Out, typename Policy::summed_unshared, Labels, Operands...>;
  if constexpr (sums::wrong_sum_over >= 0) {
    return found<reason::sum_over_of_shared_axis<typename sums::template label<sums::wrong_sum_over>>>{};
  } else if constexpr (sums::found.label < 0) {
    return found<reason::ok>{};
  } else {
    using axis = typename sums::template label<sums::found.label>;
    using operand = typename sums::template operand<sums::found.operand>;
    if constexpr (sums::found.join < 0)
      return found<reason::unshared_axis_would_be_summed<axis, operand>>{};
    else
      return found<reason::unshared_axis_would_be_summed<
          axis, operand, rename<axis, typename sums::template label<sums::found.join>>>>{};
  }
}

}  // namespace ostraka::detail
