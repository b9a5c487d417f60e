// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The last step of a pullback that knows no names (shared_node.hpp): a planned sum or reshard converts the
/// computed cotangent to the sharding of an operand's cotangents, and the result is added to the operand's slot.

#include <type_traits>

#include <ostraka/algebra/reductions.hpp>
#include <ostraka/calls/planned_call.hpp>
#include <ostraka/gradient/tape/shared_node.hpp>
#include <ostraka/moves/reshard.hpp>

namespace ostraka::detail {

/// A conversion as a constant.
template <class T, class Space>
struct conversion {
  char const* name = nullptr;
  planned_operation<T, Space> run{};  ///< none if the cotangent has the wanted sharding
};

/// The conversion of a tensor `From` to a `Wanted`, which has its axes or some of them. `is_planned`: there is such a
/// constant.
template <class From, class Wanted>
struct find_conversion {
  using value = typename From::value_type;
  using space = typename From::space;
  using target = sharding_in<Wanted>;
  using any_plan = policy<planner::admit::any>;
  static constexpr bool is_same = std::is_same_v<sharding_in<From>, target>;
  static constexpr bool keeps_axes = have_same_types<axes_in<From>, axes_in<Wanted>>;

  static consteval bool is_planned() {
    if constexpr (any_varies<From, Wanted> || !is_tensor<Wanted>)
      return false;
    else if constexpr (!std::is_same_v<value, typename Wanted::value_type> ||
                       !std::is_same_v<space, typename Wanted::space>)
      return false;
    else if constexpr (is_same)
      return true;
    else if constexpr (!keeps_axes)
      return std::is_same_v<reduction_verdict<target, any_plan, reduction::sum, From>, reason::ok>;
    else if constexpr (std::is_same_v<reshard_call_verdict<From, target, any_plan>, reason::ok>)
      return !reshard_types<From, target>::changes_nothing;
    else
      return false;
  }

  static consteval conversion<value, space> as_constant() {
    if constexpr (is_same)
      return {};
    else if constexpr (keeps_axes)
      return {operation::reshard<target>::name,
              planned_reshard<reshard_types<From, target>, any_plan, value, space>::as_constant()};
    else
      return {operation::reduce<reduction::sum, target>::name,
              einsum_of<target, any_plan, reduction::sum, type_list<From>>::as_constant()};
  }
};

/// Converts a cotangent, and adds it to the slot of a variable; `to` is null for a constant.
template <class T, class Space, int From, int To>
[[gnu::cold, gnu::noinline]] void add_converted(conversion<T, Space> const& how,
                                                unnamed_tensor<T, From, Space> const& g,
                                                slot_of_sum<unnamed_tensor<T, To, Space>>* to) {
  if (to == nullptr) return;
  if constexpr (From == To)
    if (how.run.call == nullptr) return to->add(g);
  unnamed_tensor<T, To, Space> converted;
  run_on_one(how.run, how.name, g, converted);
  to->add(converted);
}

}  // namespace ostraka::detail
