// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Runs an operation that has a plan at once: an einsum, a reduction, a reshard. The facts in its types become
/// constants, and one function runs all of them, so that a distinct operation adds only its constants and a call to a
/// program.

#include <cstdint>
#include <memory>

#include <ostraka/calls/checked_plan.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/run/execute.hpp>
#include <ostraka/plan/spec/packed_plan.hpp>

namespace ostraka::detail {

/// One of a program's operations as constants: all facts in its types that its run needs.
struct planned_call {
  unsigned char const* plan;  ///< packed
  planner::naming const* names;
  int labels;
  int mesh_axes;
  planner::admit rule = planner::admit::any;
  bool has_policy = false;
  bool may_change = false;
  advice_record* advice = nullptr;                                                ///< none if nothing is moved
  planner::plan_view (*plan_to_run)(engine::execution_context const&) = nullptr;  ///< none if it is the stored one
};

/// The policy of operations without one: the plan runs unchecked.
struct no_policy {};

template <class Policy, class Types, int ElementBytes>
consteval planned_call make_planned_call() {
  using labels = typename Types::labels;
  using mesh = typename Types::mesh;
  planned_call call{packed_plan_of<Types>.bytes, &naming_of<labels, mesh, ElementBytes>, labels::size, mesh::size};
  if constexpr (!std::is_same_v<Policy, no_policy>) {
    call.rule = Policy::rule;
    call.has_policy = gives_policy<Policy>;
    call.may_change = is_planned_at_run_time<Policy, Types>;
    if constexpr (!is_stored_plan<Policy>)
      call.plan_to_run = checked_plan<Policy, Types, ElementBytes>;
    else if constexpr (is_advised<Policy, Types>)
      call.advice = &advice_of<Policy, Types, ElementBytes>;
  }
  return call;
}

template <class Policy, class Types, int ElementBytes>
inline constexpr planned_call planned_call_of = make_planned_call<Policy, Types, ElementBytes>();

/// True if the operation runs as a planned call: it belongs to the global view, and its plan is one for all passes.
template <class Policy, class... Operands>
inline constexpr bool is_planned_call = !any_varies<Operands...> && !limits_workspace<Policy>;
template <class... Operands>
inline constexpr bool is_planned_call<no_policy, Operands...> = !any_varies<Operands...>;

/// The kinds of steps that schedules of the call may have. If its plan is made when it runs, these are all kinds, but
/// one tensor is not multiplied.
template <class Policy, class Types>
consteval unsigned kinds_of_call() {
  if constexpr (std::is_same_v<Policy, no_policy>)  // has no members for the next branch
    return planner::kinds_of(planner::plan_view(Types::plan));
  else if constexpr (is_stored_plan<Policy>)
    return planner::kinds_of(planner::plan_view(Types::plan));
  else if constexpr (planner::plan_view(Types::plan).operands.size() == 1)
    return planner::kinds::moves | planner::kinds::folds;
  else
    return planner::kinds::all;
}

/// A new tensor <- how.alpha times the result of the operation, at once. One function for all operations on these
/// elements whose results have this rank.
template <class T, int Rank, class Space>
[[gnu::noinline]] void run_planned(planned_call const& call, char const* operation,
                                   std::shared_ptr<engine::device_mesh const> const& mesh,
                                   runtime_operand const* operands, T const* const* blocks,
                                   engine::update<T> const& how,
                                   engine::run_functions<typename Space::execution_space, T> const& functions,
                                   engine::schedule_memory*& memory, unnamed_tensor<T, Rank, Space>& result) {
  using tensor_type = unnamed_tensor<T, Rank, Space>;
  engine::schedule_memory& mine = engine::per_thread(memory);
  planner::plan_view const& stored = mine.unpacked(call.plan);
  planner::spec const* specs[planner::max_operands];
  int const count = stored.operands.size();
  for (int k = 0; k < count; ++k) specs[k] = &stored.operands[k];
  engine::steps_ahead steps(stored.steps);
  steps.may_change = call.may_change;
  engine::execution_context const w =
      context_of_operands(operation, steps, *call.names, call.labels, call.mesh_axes, operands, specs, count);
  if (call.advice != nullptr) advise(w, {w.operation, stored, call.rule, *call.names, call.has_policy}, *call.advice);
  planner::plan_view const plan = call.plan_to_run != nullptr ? call.plan_to_run(w) : stored;
  result = allocate_unnamed<T, Rank, Space>(mesh, w, *stored.result);
  engine::run(execution_space_of<tensor_type>(), w, plan, blocks, result.local().data(), how, mine, functions);
}

template <class Policy, class Types, class T, class Space>
engine::run_functions<typename Space::execution_space, T> const& functions_of_call() {
  return engine::functions_of_kinds<kinds_of_call<Policy, Types>(), typename Space::execution_space, T>();
}

/// An operation as a constant for callers that do not know its types: the call, and what belongs to it alone.
template <class T, class Space>
struct planned_operation {
  planned_call const* call = nullptr;  ///< none: no operation
  engine::run_functions<typename Space::execution_space, T> const& (*functions)() = nullptr;
  engine::schedule_memory*& (*memory)() = nullptr;  ///< of the host thread
};

/// A new tensor <- how.alpha times the operation on two tensors.
template <class T, class Space, class A, class B, int Rank>
void run_on_two(planned_operation<T, Space> const& o, char const* operation, A const& a, B const& b,
                unnamed_tensor<T, Rank, Space>& result, engine::update<T> const& how = {}) {
  runtime_operand const operands[] = {runtime_operand_of(a), runtime_operand_of(b)};
  T const* const blocks[] = {a.local().data(), b.local().data()};
  run_planned<T, Rank, Space>(*o.call, operation, a.mesh_handle(), operands, blocks, how, o.functions(), o.memory(),
                              result);
}

/// The same on one tensor.
template <class T, class Space, class A, int Rank>
void run_on_one(planned_operation<T, Space> const& o, char const* operation, A const& a,
                unnamed_tensor<T, Rank, Space>& result) {
  runtime_operand const operand = runtime_operand_of(a);
  T const* const block = a.local().data();
  run_planned<T, Rank, Space>(*o.call, operation, a.mesh_handle(), &operand, &block, {}, o.functions(), o.memory(),
                              result);
}

}  // namespace ostraka::detail
