// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::reshard<I/Y, J>(A)`: any sharding to any other by the cheapest plan. A[I_X, J] → A[I_Y, J]

#include <ostraka/detail/after_error.hpp>
#include <ostraka/detail/check_and_advise.hpp>
#include <ostraka/detail/operation.hpp>
#include <ostraka/detail/within.hpp>
#include <ostraka/engine/run/execute.hpp>
#include <ostraka/engine/run/run_in_passes.hpp>
#include <ostraka/plan.hpp>
#include <ostraka/plan/typed/nominal.hpp>
#include <ostraka/relabel.hpp>

namespace ostraka {

namespace detail {

template <class From, class To>
struct reshard_types {
  using labels = axes_in<From>;
  using mesh = union_of<mesh_axes_in<From>, mesh_axes_in<To>>;
  static constexpr planner::spec from = spec_of<From, labels, mesh>;
  static constexpr planner::spec to = spec_of<To, labels, mesh>;
  static constexpr planner::reshard_steps steps =
      planner::plan_reshard(from, to, planner::nominal_sizes(planned_sizes(labels{}, mesh{})));

  // The same as that of the einsum of one operand that it is.
  static constexpr planner::einsum_plan plan = [] {
    planner::einsum_plan p;
    p.operands.push_back(from);
    p.result = to;
    p.sizes = planner::nominal_sizes(planned_sizes(labels{}, mesh{}));
    p.feasible = true;
    for (planner::planned_step const& s : steps) p.steps.push_back(s);
    return p;
  }();
};

template <class From, class To, class Policy>
consteval auto check_reshard() {
  using own = typename first_fault<typename sharding_traits<sharding_in<From>>::verdict,
                                   typename sharding_traits<To>::verdict>::type;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return std::type_identity<own>{};
  else if constexpr (!std::is_same_v<axes_in<From>, axes_in<To>>)
    return std::type_identity<reason::reshard_changes_axes<sharding_in<From>, To>>{};
  else if constexpr ((Policy::rule != planner::admit::any && Policy::rule != planner::admit::no_communication) ||
                     Policy::idle_axes::size > 0)
    return std::type_identity<reason::policy_not_for_reshard<Policy>>{};
  else if constexpr (Policy::rule == planner::admit::no_communication &&
                     reshard_types<From, To>::plan.communications() > 0)
    return std::type_identity<reason::policy_admits_no_plan<Policy, sharding_in<From>>>{};
  else
    return check_bounds<Policy, reshard_types<From, To>, element_bytes_in<From>>();
}

template <class From, class To, class Policy = policy<planner::admit::any>>
using reshard_verdict = typename decltype(check_reshard<From, To, Policy>())::type;

template <class From, class To>
consteval auto make_reshard_plan() {
  using verdict = reshard_verdict<From, To>;
  reason::raise<verdict>();
  if constexpr (std::is_same_v<verdict, reason::ok>) {
    using types = reshard_types<From, To>;
    named_plan<typename types::labels, typename types::mesh, element_bytes_in<From>> plan{types::plan};
    for (int i = 0; i < plan.steps.size(); ++i)
      plan.steps[i].operand = planner::the_result;  // what the last step makes is no workspace
    return plan;
  } else {
    return named_plan<type_list<>, type_list<>, 1>{};
  }
}

struct no_policy {
  static constexpr bool limits_workspace = false;
  static constexpr bool plans_at_run_time = false;
};

// The plan of a reshard that has a policy, looked at by it.
template <class Types, class Policy, int ElementBytes>
planner::plan_view overseen_plan(char const* operation, engine::execution_context const& w) {
  planner::plan_view const plan = plan_at_hand<Policy, Types, ElementBytes>(operation, w);
  oversee<Policy, Types, ElementBytes>(operation, w, plan);
  return plan;
}

// Its steps, which only a plan for the sizes at hand has not known while the program was compiled.
template <class Types, class Policy>
decltype(auto) steps_of([[maybe_unused]] planner::plan_view const& plan) {
  if constexpr (Policy::plans_at_run_time) {
    planner::reshard_steps steps;
    for (planner::planned_step const& s : plan.steps) steps.push_back(s);
    return steps;
  } else {
    return (Types::steps);
  }
}

// Runs the steps from the block of `a` into that of `b`, within the workspace that the policy allows.
template <class Types, class Policy, class A, class B>
void move_between(char const* operation, engine::execution_context const& w,
                  [[maybe_unused]] planner::plan_view const& plan, [[maybe_unused]] Policy const& policy, A const& a,
                  B const& b) {
  using value = typename A::value_type;
  using exec_space = execution_space_of<A>;
  exec_space const exec;
  auto const from =
      engine::dense_region(static_cast<value const*>(a.local().data()), engine::box_of(Types::from, w.here, w.sizes));
  auto const to = engine::dense_region(b.local().data(), engine::box_of(Types::to, w.here, w.sizes));
  if constexpr (limits_workspace<Policy> && !Types::steps.empty()) {
    planner::pass const first = run_of<Policy, Types, static_cast<int>(sizeof(value))>(operation, w, plan, policy)
                                    .first;  // a reshard has one plan
    engine::workspace_limit<typename exec_space::memory_space> const limit(workspace_limit_of(policy));
    engine::run_in_passes(exec, w, steps_of<Types, Policy>(plan), Types::from, first, from, to);
  } else {
    static thread_local constinit engine::run_memory<value>* memory = nullptr;
    engine::run(exec, w, steps_of<Types, Policy>(plan), Types::from, from, to, engine::per_thread(memory));
  }
}

// Runs the steps of `types`: those of a planned reshard, or the one of a verb, which has no policy.
template <class Types, class To, class Policy = no_policy, class A>
auto run_moves(char const* operation, A const& a, [[maybe_unused]] Policy const& policy = {}) {
  engine::execution_context const w =
      context_of<typename Types::labels, typename Types::mesh>(operation, engine::steps_ahead(Types::steps), a);
  if constexpr (Types::steps.empty()) {
    return basic_tensor<typename A::element_type, To, typename A::space>(a.mesh_handle(), a.extents(), a.local());
  } else {
    planner::plan_view plan;
    if constexpr (is_policy<Policy>)
      plan = overseen_plan<Types, Policy, static_cast<int>(sizeof(typename A::value_type))>(operation, w);
    using result_type = basic_tensor<typename A::value_type, To, typename A::space>;
    result_type const result =
        allocate_in<result_type, typename Types::labels, typename Types::mesh>(w, a.mesh_handle());
    move_between<Types>(operation, w, plan, policy, a, result);
    return result;
  }
}

}  // namespace detail

/// The same tensor under another sharding; shares its memory with `a` if that is the one it has. Naming the target
/// authorises the communication; os::no_communication, os::at_most<bytes> or os::within(bytes) behind the tensor bounds
/// it. Collective over the mesh axes that source and target name.
/// @throws ostraka::error, on all devices alike, if the mesh lacks a mesh axis of the target or the plan moves more
/// than a budget
template <auto... To, OperandOrPolicy A, OperandOrPolicy Policy = policy<planner::admit::any>>
[[nodiscard]] auto reshard(A const& a, Policy policy = {}) {
  using target = sharding_of<To...>;
  if constexpr (!Tensor<A> || !is_policy<Policy>) {
    reason::raise<detail::order_verdict_of<A, Policy>>();
    return detail::after_error_of<float, target>();
  } else {
    using verdict = typename detail::first_fault<detail::reshard_verdict<A, target, Policy>,
                                                 detail::element_verdict<typename A::value_type, target>>::type;
    reason::raise<verdict>();
    if constexpr (std::is_same_v<verdict, reason::ok>)
      return detail::run_moves<detail::reshard_types<A, target>, target>("reshard", a, policy);
    else
      return detail::after_error_of<typename A::value_type, target, typename A::space>();
  }
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

/// The plan of `os::reshard<To…>(A)`, a constant expression: what would be moved, without moving it. Of a reference as
/// in os::plan.
template <auto... To, Tensor A>
[[nodiscard]] constexpr auto reshard_plan(A const&) {
  using source = detail::reshard_plan_source<dims<To...>, A>;
  return constant_plan<source>{source::plan};
}

}  // namespace ostraka
