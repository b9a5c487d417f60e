// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. What a user may ask of a plan beyond being the cheapest: the last argument of os::einsum.

#include <ostraka/types/axis.hpp>
#include <ostraka/types/type_list.hpp>

namespace ostraka {

namespace planner {
/// Which plans are admitted; among these the cheapest is taken.
enum class admit { any, gather_left, gather_right, reduce_result, no_communication };
}  // namespace planner

/// An admission rule, and mesh axes that no tensor names but the plan may divide work over.
template <planner::admit Rule, class... Idle>
struct policy {
  static constexpr planner::admit rule = Rule;
  using idle_axes = type_list<Idle...>;
};

/// The default: fewest bytes, then fewest flops, then fewest steps, then the first in the planner's order.
inline constexpr policy<planner::admit::any> cheapest{};
/// All-gather the left operand; the right one and the result are moved for nothing or not at all.
inline constexpr policy<planner::admit::gather_left> gather_left{};
/// All-gather the right operand; the left one and the result are moved for nothing or not at all.
inline constexpr policy<planner::admit::gather_right> gather_right{};
/// Move no operand; reduce the result.
inline constexpr policy<planner::admit::reduce_result> reduce_result{};
/// Move nothing.
inline constexpr policy<planner::admit::no_communication> no_communication{};

/// Let the plan divide work over mesh axes that no tensor of the operation names, when that is cheaper.
template <MeshAxis... Ms>
[[nodiscard]] constexpr policy<planner::admit::any, Ms...> idle(Ms...) {
  return {};
}

}  // namespace ostraka
