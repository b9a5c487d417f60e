// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The checks of an einsum and a contraction of given types. Each check returns `reason::ok` or a reason, as a
/// type. Operations raise the reason; the queries (`os::can_einsum`, `os::can_contract`) only test for it.

#include <type_traits>

#include <ostraka/plan/rules/contract_rule.hpp>
#include <ostraka/plan/search/plan_einsum.hpp>
#include <ostraka/plan/typed/nominal.hpp>
#include <ostraka/plan/typed/to_spec.hpp>
#include <ostraka/plan/typed/unshared_sums.hpp>
#include <ostraka/plan/typed/varying_results.hpp>
#include <ostraka/plan/workspace/fitting.hpp>
#include <ostraka/types/reasons/operation_names.hpp>

namespace ostraka {

namespace detail {

template <class Operand>
inline constexpr bool is_copied = false;

template <class Operand>
  requires requires { Operand::is_copied; }
inline constexpr bool is_copied<Operand> = Operand::is_copied;

template <class T>
inline constexpr int element_bytes_in = 4;  // a sharding alone counts as float

template <class T>
  requires requires { typename T::value_type; }
inline constexpr int element_bytes_in<T> = static_cast<int>(sizeof(typename T::value_type));

/// The labels and mesh axes of an operation, numbered in order of first appearance: operands first, so that their
/// labels come first in sums.
template <class Out, class Policy, reduction How, class... Operands>
struct einsum_types {
  using labels = typename unite_lists<union_of<axes_in<Operands>...>, axes_in<Out>>::type;
  using mesh = union_of<mesh_axes_in<Operands>..., mesh_axes_in<Out>, typename Policy::idle_axes>;

  static consteval planner::einsum_plan make() {
    planner::einsum_problem p;
    (p.operands.push_back(spec_of<Operands, labels, mesh>), ...);
    p.result = spec_of<Out, labels, mesh>;
    p.sizes = planner::nominal_sizes(planned_sizes(labels{}, mesh{}), p.operands, p.result);
    p.rule = Policy::rule;
    p.directions = Policy::directions;
    p.element_weight = Policy::flops_per_byte * element_bytes_in<typename nth<0, Operands...>::type> /
                       2.0;  // a product of two elements is two operations
    p.how = How;
    planner::einsum_plan found = planner::plan_einsum(p);
    int k = 0;
    ((found.copied[k++] = is_copied<Operands>), ...);
    return found;
  }
  static constexpr planner::einsum_plan plan =
      make();  // more steps than the compiler allows? Link ostraka::large_plans (docs/options.md)
};

/// True if the plan is a constant, made within the steps that the compiler allows.
template <class Types>
concept planned = requires { typename std::bool_constant<Types::plan.feasible>; };

/// The verdict if it is not. The compiler has reported that it stopped; this sentence gives the remedy.
template <class... Operands>
struct plan_of_too_many_steps {
  static_assert(reason::never<Operands...>,
                "einsum: this plan takes more steps of constant evaluation than the compiler allows by default; link "
                "ostraka::large_plans (docs/options.md)");
};

/// True if all extents and sizes of an operation are static, so that its nominal sizes are the actual ones.
template <class... Names>
inline constexpr bool all_static = ((Names::extent != dynamic_extent) && ...);
template <class... Axes, class... Ms>
inline constexpr bool all_static<type_list<Axes...>, type_list<Ms...>> = all_static<Axes..., Ms...>;

/// `reason::ok`, or the reason if the sizes known at compile time exceed the policy's budget.
template <class Policy, class Types, int ElementBytes>
consteval auto check_budget() {
  if constexpr (has_budget<Policy> && all_static<typename Types::labels, typename Types::mesh>) {
    constexpr std::int64_t bytes =
        planner::bytes_per_device(Types::plan.elements_moved(Types::plan.sizes), ElementBytes, Types::plan.sizes);
    if constexpr (bytes > Policy::budget)
      return found<reason::plan_exceeds_budget<bytes, Policy::budget>>{};
    else
      return found<reason::ok>{};
  } else {
    return found<reason::ok>{};
  }
}

/// The passes by which an operation whose sizes are all static keeps within a limit that is known at compile time.
template <class Policy, class Types, int ElementBytes>
inline constexpr planner::pass_choice static_passes =
    planner::fit_plan(planner::result_in_place(Types::plan), Types::plan.sizes,
                      planner::bounds_of(Policy::workspace_limit, Policy::budget, ElementBytes, Types::plan.sizes))
        .passes;

/// `reason::ok`, or the reason if the sizes known at compile time exceed the policy's workspace.
template <class Policy, class Types, int ElementBytes>
consteval auto check_workspace() {
  if constexpr (limits_workspace<Policy> && all_static<typename Types::labels, typename Types::mesh>) {
    constexpr planner::pass_choice passes = static_passes<Policy, Types, ElementBytes>;
    if constexpr (!passes.fits)
      return found<reason::plan_exceeds_workspace<passes.workspace * ElementBytes, Policy::workspace_limit>>{};
    else
      return found<reason::ok>{};
  } else {
    return found<reason::ok>{};
  }
}

/// Checks both bounds of a policy: budget, then workspace.
template <class Policy, class Types, int ElementBytes>
consteval auto check_bounds() {
  using moved = typename decltype(check_budget<Policy, Types, ElementBytes>())::type;
  if constexpr (std::is_same_v<moved, reason::ok>)
    return check_workspace<Policy, Types, ElementBytes>();
  else
    return found<moved>{};
}

// The operation for a kind of reduction, as reasons print it.
template <reduction How>
using operation_of = typename nth<static_cast<int>(How), operation::sum, operation::max, operation::min,
                                  operation::prod, operation::bit_and, operation::bit_or>::type;

template <reduction How, class P>
consteval auto check_kind() {
  if constexpr (P::kind == How)
    return found<reason::ok>{};
  else
    return found<reason::partial_of_another_kind<P, operation_of<How>>>{};
}

template <reduction How, class... Partials>
consteval auto check_kinds(type_list<Partials...>) {
  return found<first_fault<typename decltype(check_kind<How, Partials>())::type...>>{};
}

// `reason::ok` if all parts are of the operation's kind.
template <reduction How, class... Shardings>
using kinds_verdict = typename decltype(check_kinds<How>(
    concatenation_of<typename sharding_traits<sharding_in<Shardings>>::partial_entries...>{}))::type;

// The mesh axes that divide a label, as a reason prints them: X_mesh, or the whole I/X/Y if there are several.
template <class Entry>
struct divisor {
  using type = Entry;
};

template <class A, class M>
struct divisor<over<A, M>> {
  using type = M;
};

template <class A, class Sharding>
struct divisor_of;

template <class A, class... Entries>
struct divisor_of<A, sharding<Entries...>> {
  using type = A;  // the bare axis: not divided
};

template <class A, class E, class... Entries>
struct divisor_of<A, sharding<E, Entries...>> {
  using type = typename std::conditional_t<is_one_of<type_list<A>, typename entry<E>::axes>, divisor<E>,
                                           divisor_of<A, sharding<Entries...>>>::type;
};

template <class Operand>
inline constexpr bool holds_bools = false;

template <class Operand>
  requires requires { typename Operand::value_type; }
inline constexpr bool holds_bools<Operand> = std::is_same_v<typename Operand::value_type, bool>;

// Bools are neither multiplied nor summed, but a single tensor of bools may be rearranged.
template <class Out, class... Operands>
consteval auto check_no_bools() {
  constexpr bool rearranged =
      sizeof...(Operands) == 1 && difference_of<union_of<axes_in<Operands>...>, axes_in<Out>>::size == 0;
  if constexpr ((holds_bools<Operands> || ...) && !rearranged)
    return found<reason::bools_do_not_add<operation::sum>>{};
  else
    return found<reason::ok>{};
}

// The checks of a well-formed einsum that need its plan.
template <class Out, class Policy, reduction How, class... Operands>
consteval auto check_einsum_plan() {
  using types = einsum_types<Out, typename Policy::unlimited, How, Operands...>;
  if constexpr (!planned<types>)
    return found<plan_of_too_many_steps<sharding_in<Operands>...>>{};
  else if constexpr (!types::plan.feasible && Policy::rule == planner::admit::any)
    return found<reason::product_of_too_many_axes<sharding_in<Operands>...>>{};
  else if constexpr (!types::plan.feasible)
    return found<reason::policy_admits_no_plan<Policy, sharding_in<Operands>...>>{};
  else if constexpr (has_budget<Policy> || limits_workspace<Policy>)
    return check_bounds<Policy, types, element_bytes_in<typename nth<0, Operands...>::type>>();
  else
    return found<reason::ok>{};
}

template <class Out, class Policy, reduction How, class... Operands>
consteval auto check_einsum() {
  using own = first_fault<blocks_verdict<Out, Operands...>, typename sharding_traits<sharding_in<Operands>>::verdict...,
                          typename sharding_traits<sharding_in<Out>>::verdict, kinds_verdict<How, Operands..., Out>>;
  using of_no_operand = difference_of<axes_in<Out>, union_of<axes_in<Operands>...>>;
  using types = einsum_types<Out, typename Policy::unlimited, How, Operands...>;
  constexpr int count = static_cast<int>(sizeof...(Operands));
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else if constexpr (of_no_operand::size > 0) {
    return found<reason::result_axis_in_no_operand<typename type_at<of_no_operand, 0>::type>>{};
  } else if constexpr (count < 1 || count > planner::max_operands) {
    return found<reason::too_many_operands<count>>{};
  } else if constexpr (types::labels::size > planner::max_labels) {
    return found<reason::too_many_labels<types::labels::size>>{};
  } else if constexpr (types::mesh::size > planner::max_mesh_axes) {
    return found<reason::too_many_mesh_axes<types::mesh::size>>{};
  } else if constexpr (count > 2 && Policy::rule != planner::admit::any &&
                       Policy::rule != planner::admit::no_communication) {
    return found<reason::policy_is_for_two_operands<Policy, count>>{};
  } else {
    using sums = typename decltype(check_unshared_sums<Out, Policy, typename types::labels, Operands...>())::type;
    if constexpr (!std::is_same_v<sums, reason::ok>)
      return found<sums>{};
    else
      return check_einsum_plan<Out, Policy, How, Operands...>();
  }
}

template <class Summed, class Left, class Right>
struct contract_types {
  using labels = union_of<axes_in<Left>, axes_in<Right>>;
  using mesh = union_of<mesh_axes_in<Left>, mesh_axes_in<Right>>;

  template <class... Js>
  static consteval planner::contract_finding find(type_list<Js...>) {
    bool summed[planner::max_labels]{};
    ((summed[position_in<Js, labels>] = true), ...);
    return planner::find_contract(spec_of<Left, labels, mesh>, spec_of<Right, labels, mesh>, summed);
  }
  static constexpr planner::contract_finding finding = find(Summed{});
  template <int I>
  using label = typename type_at<labels, I>::type;
  template <int I>
  using mesh_axis = typename type_at<mesh, I>::type;
};

template <class Summed, class Left, class Right>
consteval auto explain_contract() {
  using types = contract_types<Summed, Left, Right>;
  using planner::contract_fault;
  constexpr planner::contract_finding f = types::finding;
  if constexpr (f.fault == contract_fault::none) {
    return found<reason::ok>{};
  } else if constexpr (f.fault == contract_fault::contracted_axis_split_differently) {
    using J = typename types::template label<f.label>;
    return found<reason::contracted_axis_split_differently<J, typename divisor_of<J, sharding_in<Left>>::type,
                                                           typename divisor_of<J, sharding_in<Right>>::type>>{};
  } else if constexpr (f.fault == contract_fault::batch_axis_split_differently) {
    using B = typename types::template label<f.label>;
    return found<reason::batch_axis_split_differently<B, typename divisor_of<B, sharding_in<Left>>::type,
                                                      typename divisor_of<B, sharding_in<Right>>::type>>{};
  } else {
    using X = typename types::template mesh_axis<f.mesh_axis>;
    if constexpr (f.fault == contract_fault::partial_meets_partial) {
      return found<reason::partial_meets_partial<X>>{};
    } else if constexpr (f.label < 0) {
      return found<reason::result_would_be_partial<X>>{};
    } else {
      using L = typename types::template label<f.label>;
      if constexpr (f.fault == contract_fault::result_would_be_partial)
        return found<reason::result_would_be_partial<X, L>>{};
      else if constexpr (f.fault == contract_fault::partial_meets_batch_axis)
        return found<reason::partial_meets_batch_axis<X, L>>{};
      else if constexpr (f.fault == contract_fault::partial_meets_contracted_axis)
        return found<reason::partial_meets_contracted_axis<X, L>>{};
      else if constexpr (f.fault == contract_fault::partial_meets_outer_axis)
        return found<reason::partial_meets_outer_axis<X, L>>{};
      else {
        using O = typename types::template label<f.other_label>;
        if constexpr (f.fault == contract_fault::batch_axis_meets_contracted_axis)
          return found<reason::batch_axis_meets_contracted_axis<L, O, X>>{};
        else if constexpr (f.fault == contract_fault::batch_axis_meets_outer_axis)
          return found<reason::batch_axis_meets_outer_axis<L, O, X>>{};
        else if constexpr (f.fault == contract_fault::outer_axis_meets_contracted_axis)
          return found<reason::outer_axis_meets_contracted_axis<L, O, X>>{};
        else
          return found<reason::outer_axes_meet<L, O, X>>{};
      }
    }
  }
}

template <class Summed, class Left, class Right>
consteval auto check_contract() {
  using own =
      first_fault<typename decltype(check_no_bools<sharding<>, Left, Right>())::type,
                  blocks_verdict<sharding<>, Left, Right>, typename sharding_traits<sharding_in<Left>>::verdict,
                  typename sharding_traits<sharding_in<Right>>::verdict, kinds_verdict<reduction::sum, Left, Right>>;
  using of_no_operand = difference_of<Summed, union_of<axes_in<Left>, axes_in<Right>>>;
  using in_left_alone = difference_of<Summed, axes_in<Right>>;
  using in_right_alone = difference_of<Summed, axes_in<Left>>;
  using kept = difference_of<union_of<axes_in<Left>, axes_in<Right>>, Summed>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (of_no_operand::size > 0)
    return found<reason::contracted_axis_in_no_operand<typename type_at<of_no_operand, 0>::type>>{};
  else if constexpr (in_left_alone::size > 0)
    return found<reason::contracted_axis_in_one_operand<typename type_at<in_left_alone, 0>::type, sharding_in<Left>>>{};
  else if constexpr (in_right_alone::size > 0)
    return found<
        reason::contracted_axis_in_one_operand<typename type_at<in_right_alone, 0>::type, sharding_in<Right>>>{};
  else if constexpr (kept::size > max_rank)
    return found<reason::too_many_axes<kept::size>>{};
  else
    return explain_contract<Summed, Left, Right>();
}

template <class Dims>
struct dims_types;

template <auto... Dims>
struct dims_types<dims<Dims...>> {
  using sharding_type = sharding_of<Dims...>;
  using axes = typename sharding_traits<sharding_type>::axes;
};

}  // namespace detail

/// `reason::ok`, or the reason why `os::einsum` does not compile for this result, policy and operands (tensor types or
/// shardings).
template <class Out, class Policy, class... Operands>
using einsum_verdict =
    detail::first_fault<typename decltype(detail::check_no_bools<Out, Operands...>())::type,
                        typename decltype(detail::check_einsum<Out, Policy, reduction::sum, Operands...>())::type>;

namespace detail {

template <class Out, class Policy, class... Operands>
consteval bool is_einsum(type_list<Operands...>) {
  return std::is_same_v<einsum_verdict<Out, Policy, Operands...>, reason::ok>;
}

}  // namespace detail

/// `reason::ok`, or the reason why `os::contract` over the axes of the list `Summed` does not compile for these
/// operands.
template <class Summed, class Left, class Right>
using contract_verdict = typename decltype(detail::check_contract<Summed, Left, Right>())::type;

/// True if `os::einsum<Out…>(operands…)` compiles: `os::can_einsum<os::dims<I/X, K/Y>, TA, TB>`. Operands are tensor
/// types or shardings, and a policy's type may come last.
template <class Out, class... Operands>
inline constexpr bool can_einsum =
    detail::is_einsum<typename detail::dims_types<Out>::sharding_type,
                      typename detail::arguments<std::remove_cvref_t<Operands>...>::policy>(
        typename detail::arguments<std::remove_cvref_t<Operands>...>::operands{});

/// True if `os::contract<J…>(left, right)` compiles: `os::can_contract<os::dims<J>, TA, TB>`.
template <class Summed, class Left, class Right>
inline constexpr bool can_contract =
    std::is_same_v<contract_verdict<typename detail::dims_types<Summed>::axes, Left, Right>, reason::ok>;

}  // namespace ostraka
