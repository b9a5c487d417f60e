// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floors 1 and 2 under one roof: shardings as types, checks and plans; the standard library only.
///
///     constexpr auto plan = os::plan<I/X, K/Y>(A, B);
///     static_assert(plan.count(os::step::all_gather) == 1);

#include <ostraka/types/reasons.hpp>  // first: an error then names this file and yours, and no chain of includes

#include <ostraka/plan/checks.hpp>
#include <ostraka/plan/named_plan.hpp>
#include <ostraka/types/sharding.hpp>
#include <ostraka/types/sizes.hpp>

namespace ostraka {

namespace detail {

template <class T>
inline constexpr int element_bytes_in = 4;  // a sharding alone: as for float

template <class T>
  requires requires { typename T::value_type; }
inline constexpr int element_bytes_in<T> = static_cast<int>(sizeof(typename T::value_type));

template <class Out, class Policy, class First, class... Operands>
consteval auto make_plan() {
  using verdict = einsum_verdict<Out, Policy, First, Operands...>;
  reason::raise<verdict>();
  if constexpr (std::is_same_v<verdict, reason::ok>) {
    using types = einsum_types<Out, Policy, First, Operands...>;
    return named_plan<typename types::labels, typename types::mesh, element_bytes_in<First>>{types::plan};
  } else {
    return named_plan<type_list<>, type_list<>, 1>{};
  }
}

// Operands, and perhaps a policy behind them.
template <class Out, class... Operands>
struct plan_for {
  static consteval auto make() { return make_plan<Out, policy<planner::admit::any>, Operands...>(); }
};

template <class Out, class Left, planner::admit Rule, class... Idle>
struct plan_for<Out, Left, policy<Rule, Idle...>> {
  static consteval auto make() { return make_plan<Out, policy<Rule, Idle...>, Left>(); }
};

template <class Out, class Left, class Right, planner::admit Rule, class... Idle>
struct plan_for<Out, Left, Right, policy<Rule, Idle...>> {
  static consteval auto make() { return make_plan<Out, policy<Rule, Idle...>, Left, Right>(); }
};

}  // namespace detail

/// The plan of `os::einsum<Out…>(operands…)` from types alone: `os::plan_of<os::dims<I/X, K/Y>, TA, TB>`. Operands are tensor
/// types or shardings (then bytes are counted as for float); a policy's type may stand last.
template <class Out, class... Operands>
inline constexpr auto plan_of = detail::plan_for<typename detail::dims_types<Out>::sharding_type, std::remove_cvref_t<Operands>...>::make();

/// The plan of `os::einsum<Out…>(operands…)`, a constant expression: what would be moved, without moving it.
template <auto... Out, class... Operands>
[[nodiscard]] constexpr auto plan(Operands const&...) {
  return plan_of<dims<Out...>, Operands...>;
}

}  // namespace ostraka
