// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. `os::plan<I/X, K/Y>(A, B)` and `os::plan_of<os::dims<I/X, K/Y>, TA, TB>`: the plan of an einsum as a
/// constant expression, from tensors or from types.

#include <type_traits>

#include <ostraka/plan/typed/checks.hpp>
#include <ostraka/plan/typed/named_plan.hpp>

namespace ostraka {

namespace detail {

template <class Out, class Policy, class First, class... Operands>
consteval auto make_plan() {
  if constexpr (reason::ok_or_raise<einsum_verdict<Out, Policy, First, Operands...>>()) {
    using types = einsum_types<Out, typename Policy::unlimited, reduction::sum, First, Operands...>;
    return named_plan<typename types::labels, typename types::mesh, element_bytes_in<First>>{types::plan};
  } else {
    return named_plan<type_list<>, type_list<>, 1>{};
  }
}

template <class Operand>
consteval auto check_operand_of_plan() {
  if constexpr (Verb<Operand>)
    return found<reason::verb_is_no_policy<Operand>>{};
  else
    return found<reason::ok>{};
}

template <class Operand>
using operand_of_plan_verdict = typename decltype(check_operand_of_plan<Operand>())::type;

template <class Out>
struct plan_for {
  template <class Policy, class... Operands>
  static consteval auto make(std::type_identity<Policy>, type_list<Operands...>) {
    if constexpr (reason::ok_or_raise<first_fault<operand_of_plan_verdict<Operands>...>>())
      return make_plan<Out, Policy, Operands...>();
    else
      return named_plan<type_list<>, type_list<>, 1>{};
  }
};

}  // namespace detail

/// The plan of `os::einsum<Out…>(operands…)` from types alone: `os::plan_of<os::dims<I/X, K/Y>, TA, TB>`. Operands are
/// tensor types or shardings (bytes are then counted as for float). A policy's type may come last.
template <class Out, class... Operands>
inline constexpr auto plan_of = detail::plan_for<typename detail::dims_types<Out>::sharding_type>::make(
    std::type_identity<typename detail::arguments<std::remove_cvref_t<Operands>...>::policy>{},
    typename detail::arguments<std::remove_cvref_t<Operands>...>::operands{});

namespace detail {

template <class Out, class... Operands>
struct einsum_plan_source {
  static constexpr auto const& plan = plan_of<Out, Operands...>;
};

}  // namespace detail

/// The plan of `os::einsum<Out…>(operands…)` as a constant expression: it tells what would move, and moves nothing.
/// Before C++23 references, such as a function's parameters, cannot initialise a `constexpr` variable. A plain variable
/// works as well, because the plan's numbers are constants:
///
///     auto const plan = os::plan<I/X, K/Y>(a, b);
///     static_assert(plan.count(os::step::all_gather) == 1);
template <auto... Out, class... Operands>
[[nodiscard]] constexpr auto plan(Operands const&...) {
  using source = detail::einsum_plan_source<dims<Out...>, Operands...>;
  return constant_plan<source>{source::plan};
}

}  // namespace ostraka
