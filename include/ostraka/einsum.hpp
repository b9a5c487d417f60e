// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::einsum<I/X, K/Y>(A, B)`: C[I_X, K_Y] = A · B, summed over the labels that C lacks. Naming the result
/// is what authorises communication; os::plan<I/X, K/Y>(A, B) tells beforehand which.

#include <type_traits>

#include <ostraka/detail/after_error.hpp>
#include <ostraka/detail/check_and_advise.hpp>
#include <ostraka/detail/operation.hpp>
#include <ostraka/detail/within.hpp>
#include <ostraka/engine/run/execute.hpp>
#include <ostraka/engine/run/run_in_passes.hpp>
#include <ostraka/plan.hpp>
#include <ostraka/relabel.hpp>

namespace ostraka {

namespace detail {

// What this device holds of operand number `k`.
template <class Exec, class A>
auto block_of_operand(Exec const& exec, engine::execution_context const& w, planner::plan_view const& plan, int k,
                      A const& a) {
  if constexpr (is_tensor<A>)
    return engine::operand_block<Exec>(w, plan, k, static_cast<typename A::value_type const*>(a.local().data()));
  else
    return a.block(exec, engine::box_of(plan.operands[k], w.here, w.sizes));
}

// Where the result of a plan lies.
template <class Result>
auto region_of_result(engine::execution_context const& w, planner::plan_view const& plan, Result const& result) {
  return engine::dense_region(result.local().data(), engine::box_of(*plan.result, w.here, w.sizes));
}

// result <- alpha · product + beta · result
template <class Result, class... Operands>
void run_on_blocks(engine::execution_context const& w, planner::plan_view const& plan,
                   engine::run_memory<typename Result::value_type>& memory, Result const& result,
                   engine::update<typename Result::value_type> const& how, Operands const&... operands) {
  using value = typename Result::value_type;
  using exec_space = execution_space_of<Result>;
  exec_space const exec;
  if constexpr ((is_tensor<Operands> && ...)) {
    value const* const blocks[] = {operands.local().data()...};
    engine::run(exec, w, plan, blocks, result.local().data(), how, memory);
  } else {
    engine::placed_run<typename exec_space::memory_space> const in_places(&memory.of(w, how, plan.steps.size()).places);
    int k = 0;
    engine::local_block<exec_space, value> blocks[] = {block_of_operand(exec, w, plan, k++, operands)...};
    engine::run(exec, w, plan, blocks, region_of_result(w, plan, result), how);
  }
}

// The same within the workspace that the policy allows.
template <class Types, class Policy, class Result, class... Operands>
void run_within(engine::execution_context const& w, planner::plan_view const& plan, Policy const& policy,
                Result const& result, engine::update<typename Result::value_type> const& how,
                Operands const&... operands) {
  using value = typename Result::value_type;
  if constexpr (limits_workspace<Policy>) {
    bounded_run const bounded =
        run_of<Policy, Types, static_cast<int>(sizeof(value))>(w.operation.data(), w, plan, policy);
    engine::workspace_limit<typename execution_space_of<Result>::memory_space> const limit(workspace_limit_of(policy));
    execution_space_of<Result> const exec;
    int k = 0;
    engine::local_block<execution_space_of<Result>, value> blocks[] = {
        block_of_operand(exec, w, plan, k++, operands)...};
    engine::run_in_passes(exec, w, bounded.plan, bounded.first, blocks, region_of_result(w, plan, result), how);
  } else {
    static thread_local constinit engine::run_memory<value>* memory = nullptr;
    run_on_blocks(w, plan, engine::per_thread(memory), result, how, operands...);
  }
}

// Planned by types and run on blocks.
template <class Out, class Policy, reduction How, class First, class... Rest>
auto run_einsum(char const* operation, Policy const& policy, engine::update<typename First::value_type> const& how,
                First const& first, Rest const&... rest) {
  using types = einsum_types<Out, typename Policy::unlimited, How, First, Rest...>;
  using value = typename First::value_type;
  using result_type = basic_tensor<value, Out, typename First::space>;
  engine::execution_context const w = context_of<typename types::labels, typename types::mesh>(
      operation, engine::steps_ahead(planner::plan_view(stored_plan_of<types>).steps), first, rest...);
  planner::plan_view const plan = plan_at_hand<Policy, types, static_cast<int>(sizeof(value))>(operation, w);
  oversee<Policy, types, static_cast<int>(sizeof(value))>(operation, w, plan);
  result_type const result =
      allocate_in<result_type, typename types::labels, typename types::mesh>(w, first.mesh_handle());
  run_within<types>(w, plan, policy, result, how, first, rest...);
  return result;
}

template <class Out, class Policy, class First, class... Rest>
auto checked_einsum(Policy const& policy, First const& first, Rest const&... rest) {
  using verdict = typename first_fault<einsum_verdict<Out, Policy, First, Rest...>,
                                       typename same_elements<First, Rest...>::type>::type;
  reason::raise<verdict>();
  if constexpr (std::is_same_v<verdict, reason::ok>)
    return run_einsum<Out, Policy, reduction::sum>("einsum", policy, {}, first, rest...);
  else
    return after_error_of<typename First::value_type, Out, typename First::space>();
}

template <class Operands>
struct strangers_among;

template <class... Operands>
struct strangers_among<type_list<Operands...>>
    : first_fault<reason::ok, std::conditional_t<is_operand<Operands>, reason::ok, stranger_verdict<Operands>>...> {};

// The operands by name, so that a policy behind them stays behind: a std::tuple of each call's types would cost more
// than its plan.
template <class Out, class Policy, class Operands>
struct einsum_of;

template <class Out, class Policy, class... Operands>
struct einsum_of<Out, Policy, type_list<Operands...>> {
  template <class... Behind>
  static auto run(Operands const&... operands, Behind const&... behind) {
    using verdict = typename strangers_among<type_list<Operands...>>::type;
    reason::raise<verdict>();
    if constexpr (std::is_same_v<verdict, reason::ok>)
      return checked_einsum<Out>(policy_behind<Policy>(behind...), operands...);
    else
      return after_error_of<float, Out>();
  }
};

}  // namespace detail

/// The einsum of any number of tensors: numpy's rule on names, with the sharding of the result as asked for (partial
/// only if that is asked for). A policy may stand behind the tensors: os::gather_left, os::gather_right,
/// os::reduce_result, os::no_communication, os::at_most<bytes>, os::within(bytes), os::idle(Z), os::for_these_sizes. An
/// operand whose labels repeat is an os::relabel<I, I>(A). The order of the products is planned with the moves.
/// Collective over the mesh axes that the tensors name.
/// @throws ostraka::error, on all devices alike, if extents disagree, the mesh lacks a mesh axis of the result, or the
/// plan moves more than a budget or takes more workspace than a limit
template <auto... Out, Operand A, class... OperandsThenPolicy>
[[nodiscard]] auto einsum(A const& a, OperandsThenPolicy const&... more) {
  using split = detail::arguments<A, OperandsThenPolicy...>;
  return detail::einsum_of<sharding_of<Out...>, typename split::policy, typename split::operands>::run(a, more...);
}

/// Says what stands where a tensor should.
template <auto... Out, class Other, class... More>
  requires(!Operand<Other>)
auto einsum(Other const&, More const&...) {
  reason::raise<reason::not_an_operand<Other>>();
  return detail::after_error_of<float, sharding_of<Out...>>();
}

}  // namespace ostraka
