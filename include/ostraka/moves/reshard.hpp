// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::reshard<I/Y, J>(A)`: any sharding to any other, and any order of axes, by the cheapest plan. A[I_X, J]
/// → A[I_Y, J], A[I_X, J] → A[J_X, I]

#include <tuple>

#include <ostraka/calls/at_once.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/calls/planned_call.hpp>
#include <ostraka/calls/within.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/plan/reshard/reorder_labels.hpp>
#include <ostraka/plan/typed/nominal.hpp>
#include <ostraka/plan/typed/plan_of.hpp>
#include <ostraka/tensors/after_error.hpp>
#include <ostraka/tensors/relabelled.hpp>

namespace ostraka {

namespace detail {

constexpr planner::einsum_plan plan_of_moves(planner::spec const& from, planner::spec const& to,
                                             planner::reshard_steps const& steps, planner::extents const& sizes) {
  planner::einsum_plan p;
  p.operands.push_back(from);
  p.result = to;
  p.sizes = sizes;
  p.feasible = true;
  for (planner::planned_step const& s : steps) p.steps.push_back(s);
  return p;
}

template <class From, class To>
struct reshard_types {
  using labels = axes_in<From>;
  using mesh = union_of<mesh_axes_in<From>, mesh_axes_in<To>>;
  static constexpr planner::spec from = spec_of<From, labels, mesh>;
  static constexpr planner::spec to = spec_of<To, labels, mesh>;
  static constexpr planner::reshard_steps steps =
      planner::plan_reordering_reshard(from, to, planner::nominal_sizes(planned_sizes(labels{}, mesh{})));
  static constexpr bool changes_nothing = steps.empty() && planner::same_order(from, to);

  // The plan of the einsum of one operand that the reshard is.
  static constexpr planner::einsum_plan plan =
      plan_of_moves(from, to, steps, planner::nominal_sizes(planned_sizes(labels{}, mesh{})));
};

template <class From, class To>
consteval auto check_same_axes() {
  using own = first_fault<typename sharding_traits<From>::verdict, typename sharding_traits<To>::verdict>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (!have_same_types<axes_in<From>, axes_in<To>>)
    return found<reason::reshard_changes_axes<From, To>>{};
  else
    return found<reason::ok>{};
}

// `reason::ok` if both shardings have the same axes, in any order.
template <class From, class To>
using same_axes_verdict = typename decltype(check_same_axes<From, To>())::type;

template <class From, class To, class Policy>
consteval auto check_reshard() {
  using own = first_fault<blocks_verdict<To, From>, same_axes_verdict<sharding_in<From>, To>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr ((Policy::rule != planner::admit::any && Policy::rule != planner::admit::no_communication) ||
                     Policy::idle_axes::size > 0 || Policy::directions > 0)
    return found<reason::policy_not_for_reshard<Policy>>{};
  else if constexpr (Policy::rule == planner::admit::no_communication &&
                     reshard_types<From, To>::plan.communications() > 0)
    return found<reason::policy_admits_no_plan<Policy, sharding_in<From>>>{};
  else
    return check_bounds<Policy, reshard_types<From, To>, element_bytes_in<From>>();
}

template <class From, class To, class Policy = policy<planner::admit::any>>
using reshard_verdict = typename decltype(check_reshard<From, To, Policy>())::type;

// The arguments are a tensor and perhaps a policy after it.
template <class From, class To, class Policy>
consteval auto check_reshard_call() {
  if constexpr (!Tensor<From> || !is_policy<Policy>)
    return found<order_verdict<From, Policy>>{};
  else
    return found<first_fault<reshard_verdict<From, To, Policy>, element_verdict<typename From::value_type, To>>>{};
}

template <class From, class To, class Policy>
using reshard_call_verdict = typename decltype(check_reshard_call<From, To, Policy>())::type;

template <class From, class To>
consteval auto make_reshard_plan() {
  if constexpr (reason::ok_or_raise<reshard_verdict<From, To>>()) {
    using types = reshard_types<From, To>;
    named_plan<typename types::labels, typename types::mesh, element_bytes_in<From>> plan{types::plan};
    for (int i = 0; i < plan.steps.size(); ++i)
      plan.steps[i].operand = planner::the_result;  // the output of the last step is not workspace
    return plan;
  } else {
    return named_plan<type_list<>, type_list<>, 1>{};
  }
}

// The plan that the engine runs, checked by the policy, with passes if the policy limits the workspace.
template <class Types, int ElementBytes, class Policy>
auto moves_to_run([[maybe_unused]] engine::execution_context const& w, [[maybe_unused]] Policy const& policy) {
  if constexpr (std::is_same_v<Policy, no_policy>)
    return planner::plan_view(stored_plan_of<Types>);
  else
    return plan_to_run<Policy, Types, ElementBytes>(w, policy);
}

// The same block, unlabelled, after the checks of an operation. One function for all shardings of a rank.
template <class T, int Rank, class Space>
[[gnu::cold, gnu::noinline]] unnamed_tensor<T, Rank, Space> checked_block(char const* operation, planner::spec const& s,
                                                                          planner::naming const& names, int mesh_axes,
                                                                          unnamed_tensor<T, Rank, Space> const& a) {
  planner::spec const* const specs[] = {&s};
  runtime_operand const operands[] = {runtime_operand_of(a)};
  context_of_operands(operation, engine::steps_ahead{}, names, Rank, mesh_axes, operands, specs, 1);
  return {a.mesh_handle(), a.extents(), a.local()};
}

// The same block under another sharding.
template <class Types, class To, class When, class A>
auto reshard_nothing(char const* operation, A const& a) {
  using labels = typename Types::labels;
  using mesh = typename Types::mesh;
  basic_tensor<typename A::element_type, To, typename A::space> same(
      checked_block<typename A::element_type, A::rank, typename A::space>(operation, spec_of<A, labels, mesh>,
                                                                          naming_of<labels, mesh>, mesh::size, a));
  if constexpr (varying_in<A>::size > 0) same.set_origins(a.origins());
  return When::same(same);
}

// A reshard of elements T that is run as a planned call.
template <class Types, class Policy, class T, class Space>
struct planned_reshard {
  static consteval planned_operation<T, Space> as_constant() {
    return {&planned_call_of<Policy, Types, static_cast<int>(sizeof(T))>,
            engine::functions_of_kinds<kinds_of_call<Policy, Types>(), typename Space::execution_space, T>,
            memory_of_call};
  }
  static engine::schedule_memory*& memory_of_call() {
    static thread_local constinit engine::schedule_memory* of_thread = nullptr;
    return of_thread;
  }
};

template <class Types, class To, class Policy, class A>
auto reshard_at_once(char const* operation, A const& a) {
  using value = typename A::value_type;
  using planned = planned_reshard<Types, Policy, value, typename A::space>;
  basic_tensor<value, To, typename A::space> result;
  runtime_operand const operand = runtime_operand_of(a);
  value const* const block = elements_of(a);
  run_planned<value, A::rank, typename A::space>(
      planned_call_of<Policy, Types, static_cast<int>(sizeof(value))>, operation, a.mesh_handle(), &operand, &block, {},
      functions_of_call<Policy, Types, value, typename A::space>(), planned::memory_of_call(), result);
  return result;
}

template <class Types, class To, class When, class A, class Policy>
auto reshard_when(char const* operation, A const& a, Policy const& policy) {
  using value = typename A::value_type;
  using result_type = basic_tensor<value, To, typename A::space>;
  engine::execution_context const w =
      context_of<typename Types::labels, typename Types::mesh>(operation, engine::steps_ahead(Types::steps), a);
  auto const plan = moves_to_run<Types, static_cast<int>(sizeof(value))>(w, policy);
  auto const result = allocate_for<result_type, typename Types::labels, typename Types::mesh>(w, a);
  value const* const block = elements_of(a);
  static thread_local constinit engine::schedule_memory* memory = nullptr;
  return When::run(result, std::tuple(a.local()), execution_space_of<A>(), w, plan, &block, result.local().data(),
                   engine::update<value>(), engine::per_thread(memory),
                   functions_of_call<Policy, Types, value, typename A::space>());
}

// Runs the steps of `Types`: those of a planned reshard, or the single move of a verb. `When`: at once, or begun.
template <class Types, class To, class When = at_once, class A, class Policy = no_policy>
auto run_reshard(char const* operation, A const& a, [[maybe_unused]] Policy const& policy = {}) {
  if constexpr (Types::changes_nothing)
    return reshard_nothing<Types, To, When>(operation, a);
  else if constexpr (std::is_same_v<When, at_once> && is_planned_call<Policy, A>)
    return reshard_at_once<Types, To, Policy>(operation, a);
  else
    return reshard_when<Types, To, When>(operation, a, policy);
}

/// The plan of a reshard, for questions about its price.
template <class To, class A>
struct reshard_source {
  static constexpr auto plan = make_reshard_plan<A, To>();
};

/// The moves of a tensor of type `From` to this sharding; none if it has that sharding, in any order of axes.
template <class From, class To>
using moves_of_reshard = moves_of_plan<reshard_source<To, From>>;

/// The result of a reshard that is refused. Its argument need not be an operand.
template <class To, class A>
struct refused_reshard {
  using type = after_error_of<float, To>;
};
template <class To, Tensor A>
struct refused_reshard<To, A> {
  using type = after_error_of<typename A::value_type, varying_as_one<To, A>, typename A::space>;
};

/// A reshard under another name, for operations that reshard their operand.
template <class Target, class A>
auto checked_reshard(char const* operation, A const& a) {
  using target = varying_as_one<Target, A>;
  if constexpr (reason::ok_or_raise<reshard_call_verdict<A, target, policy<planner::admit::any>>>())
    return run_reshard<reshard_types<A, target>, target>(operation, a);
  else
    return typename refused_reshard<Target, A>::type();
}

}  // namespace detail

namespace operation {

/// The operation of os::reshard to this sharding.
template <class To>
struct reshard {
  static constexpr char const* name = "reshard";
  template <class A, class Policy = policy<planner::admit::any>>
  using verdict = detail::reshard_call_verdict<A, detail::varying_as_one<To, A>, Policy>;
  template <class A, class...>
  using moves = detail::moves_of_reshard<A, detail::varying_as_one<To, A>>;
  template <class A, class...>
  using refused = typename detail::refused_reshard<To, A>::type;
  template <class Given>
  using without_operand = detail::order_verdict<Given, policy<planner::admit::any>>;

  template <class How, class A, class Policy = policy<planner::admit::any>>
  auto run(How const&, A const& a, Policy const& policy = {}) const {
    using target = detail::varying_as_one<To, A>;
    return detail::run_reshard<detail::reshard_types<A, target>, target, How>(How::is_begun ? "start_reshard" : name,
                                                                              a, policy);
  }
};

}  // namespace operation

/// The same tensor under another sharding; shares its memory with `a` if `a` has that sharding. The target may name the
/// axes in another order: `os::reshard<J/X, I>(A)`. Elements are then reordered when they are packed, or when they
/// arrive. Naming the target authorises the communication; os::no_communication, os::at_most<bytes> or
/// os::within(bytes) after the tensor bounds it. Collective over the mesh axes that source and target name.
/// @throws ostraka::error, on all devices alike, if the mesh lacks a mesh axis of the target or the plan moves more
/// than a budget
template <auto... To, OperandOrPolicy A, OperandOrPolicy Policy = policy<planner::admit::any>>
[[nodiscard]] constexpr auto reshard(A const& a, Policy policy = {}) {
  return detail::operate(operation::reshard<sharding_of<To...>>{}, a, policy);
}

/// The plan of `os::reshard<Target…>(A)` from types alone: `os::reshard_plan_of<os::dims<I/Y, J>, TA>`.
template <class Target, class A>
inline constexpr auto reshard_plan_of =
    detail::make_reshard_plan<std::remove_cvref_t<A>, typename detail::dims_types<Target>::sharding_type>();

namespace detail {

template <class Target, class A>
struct reshard_plan_source {
  static constexpr auto const& plan = reshard_plan_of<Target, A>;
};

}  // namespace detail

/// The plan of `os::reshard<To…>(A)`, a constant expression: the data that it would move, without moving it. `A` may
/// also be a reference, as in os::plan.
template <auto... To, Tensor A>
[[nodiscard]] constexpr auto reshard_plan(A const&) {
  using source = detail::reshard_plan_source<dims<To...>, A>;
  return constant_plan<source>{source::plan};
}

}  // namespace ostraka
