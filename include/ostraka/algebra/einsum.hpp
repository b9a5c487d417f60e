// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::einsum<I/X, K/Y>(A, B)`: C[I_X, K_Y] = A · B, summed over the labels that C lacks. Naming the result
/// authorises its communication; os::plan<I/X, K/Y>(A, B) returns its plan beforehand.

#include <tuple>
#include <type_traits>

#include <ostraka/calls/at_once.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/calls/planned_call.hpp>
#include <ostraka/calls/within.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/plan/typed/plan_of.hpp>
#include <ostraka/tensors/after_error.hpp>
#include <ostraka/tensors/relabelled.hpp>

namespace ostraka {

namespace detail {

/// The plan of an einsum, for questions about its price.
template <class Sharding, class... Given>
struct einsum_source {
  using split = arguments<Given...>;
  static constexpr auto plan = plan_for<Sharding>::make(std::type_identity<typename split::policy>{},
                                                        typename split::operands{});
};

// The operands as the engine reads them: pointers, or sources with labels if the labels of an operand repeat.
template <class... Operands>
struct sources_of {
  using type = engine::operand_source<typename nth<0, Operands...>::type::value_type>;
  template <class A>
  static type of(A const& a) {
    if constexpr (is_tensor<A>)
      return {a.local().data()};
    else
      return a.source();
  }
};

template <Tensor... Operands>
struct sources_of<Operands...> {
  using type = typename nth<0, Operands...>::type::value_type const*;
  template <class A>
  static type of(A const& a) {
    return a.local().data();
  }
};

// An operation that is planned as an einsum. The class names its operands, so that a function can take a policy after
// them: a std::tuple of each call's types would cost more than its plan.
template <class Out, class Policy, reduction How, class Operands>
struct einsum_of;

template <class Out, class Policy, reduction How, class First, class... Rest>
struct einsum_of<Out, Policy, How, type_list<First, Rest...>> {
  using value = typename First::value_type;
  using types = einsum_types<Out, typename Policy::unlimited, How, First, Rest...>;
  using sources = sources_of<First, Rest...>;
  using result_type = basic_tensor<value, Out, typename First::space>;

  /// True if the operation runs as a planned call, at once.
  static constexpr bool is_planned =
      is_planned_call<Policy, First, Rest...> && (is_tensor<First> && ... && is_tensor<Rest>);

  // Returns a new tensor: update.alpha times the einsum. `When` says whether the result is ready at once or later.
  template <class When = at_once>
  static auto run(char const* operation, engine::update<value> const& update, First const& first, Rest const&... rest,
                  Policy const& policy = {}) {
    if constexpr (std::is_same_v<When, at_once> && is_planned)
      return run_at_once(operation, update, first, rest...);
    else
      return run_how(When{}, operation, update, first, rest..., policy);
  }

  // The same; or, with a destination, target <- update.alpha (the einsum) + update.beta (target).
  template <class Mode>
  static auto run_how(Mode const& how, char const* operation, engine::update<value> const& update, First const& first,
                      Rest const&... rest, Policy const& policy) {
    using labels = typename types::labels;
    using mesh = typename types::mesh;
    engine::steps_ahead const steps = steps_ahead_of<Policy, types>(planner::plan_view(stored_plan_of<types>).steps);
    engine::execution_context const w = context_how<labels, mesh>(how, operation, steps, first, rest...);
    auto const plan = plan_to_run<Policy, types, static_cast<int>(sizeof(value))>(w, policy);
    auto const& result = result_how<result_type, labels, mesh>(how, "os::einsum", w, steps, first, rest...);
    typename sources::type const blocks[] = {sources::of(first), sources::of(rest)...};
    static thread_local constinit engine::schedule_memory* memory = nullptr;
    if constexpr (is_into<Mode>)
      return engine::run(execution_space_of<result_type>(), w, plan, blocks, result.local().data(), update,
                         engine::per_thread(memory), functions_of_call<Policy, types, value, typename First::space>());
    else
      return Mode::run(result, std::tuple(view_in(first), view_in(rest)...), execution_space_of<result_type>(), w, plan,
                       blocks, result.local().data(), update, engine::per_thread(memory),
                       functions_of_call<Policy, types, value, typename First::space>());
  }

  /// The same as a constant. @pre is_planned
  static consteval planned_operation<value, typename First::space> as_constant() {
    return {&planned_call_of<Policy, types, static_cast<int>(sizeof(value))>,
            engine::functions_of_kinds<kinds_of_call<Policy, types>(), typename First::space::execution_space, value>,
            memory_of_call};
  }

 private:
  static engine::schedule_memory*& memory_of_call() {
    static thread_local constinit engine::schedule_memory* of_thread = nullptr;
    return of_thread;
  }

  static auto run_at_once(char const* operation, engine::update<value> const& how, First const& first,
                          Rest const&... rest) {
    result_type result;
    runtime_operand const operands[] = {runtime_operand_of(first), runtime_operand_of(rest)...};
    value const* const blocks[] = {sources::of(first), sources::of(rest)...};
    run_planned<value, result_type::rank, typename First::space>(
        planned_call_of<Policy, types, static_cast<int>(sizeof(value))>, operation, first.mesh_handle(), operands,
        blocks, how, functions_of_call<Policy, types, value, typename First::space>(), memory_of_call(), result);
    return result;
  }

  template <class A>
  static auto const& view_in(A const& a) {
    if constexpr (is_tensor<A>)
      return a.local();
    else
      return a.tensor().local();
  }
};

template <class T>
consteval auto check_operand() {
  if constexpr (is_operand<T>)
    return found<reason::ok>{};
  else
    return found<not_an_operand_verdict<T>>{};
}

// Plans an einsum only if all arguments are operands.
template <class Out, class Policy, class... Operands>
consteval auto check_operands(type_list<Operands...>) {
  using each = first_fault<typename decltype(check_operand<Operands>())::type...>;
  if constexpr (!std::is_same_v<each, reason::ok>)
    return found<each>{};
  else
    return found<first_fault<einsum_verdict<Out, Policy, Operands...>, elements_verdict<Operands...>>>{};
}

// `reason::ok`, or the reason why an einsum of the list `Operands` does not compile. The list may hold types that are
// not operands.
template <class Out, class Policy, class Operands>
using operands_verdict = typename decltype(check_operands<Out, Policy>(Operands{}))::type;

template <class Out, class... Given>
struct einsum_call {
  using split = arguments<Given...>;
  using policy = typename split::policy;
  using operands = typename split::operands;
  using out = varying_as_list<Out, operands>;
  using verdict = operands_verdict<out, policy, operands>;
  using run = einsum_of<out, policy, reduction::sum, operands>;
};
template <class Out, class First, class... Rest>
struct einsum_refused {
  using type = after_error_of<float, Out>;
};
template <class Out, Operand First, class... Rest>
struct einsum_refused<Out, First, Rest...> {
  using type = after_error_of<typename First::value_type, typename einsum_call<Out, First, Rest...>::out,
                              typename First::space>;
};

template <class Out, class... Given>
consteval auto check_einsum_call() {
  if constexpr (!is_operand<typename nth<0, Given...>::type>)
    return found<reason::not_an_operand<typename nth<0, Given...>::type>>{};
  else
    return found<typename einsum_call<Out, Given...>::verdict>{};
}

}  // namespace detail

namespace operation {

/// The operation of os::einsum with a result of this sharding. Policies may follow the operands.
template <class Sharding>
struct einsum {
  static constexpr char const* name = "einsum";
  template <class... Given>
  using verdict = typename decltype(detail::check_einsum_call<Sharding, Given...>())::type;
  template <class... Given>
  using moves = detail::moves_of_plan<detail::einsum_source<Sharding, Given...>>;
  template <class... Given>
  using refused = typename detail::einsum_refused<Sharding, Given...>::type;
  template <class How, class... Given>
  auto run(How const&, Given const&... given) const {
    return detail::einsum_call<Sharding, Given...>::run::template run<How>(How::is_begun ? "start_einsum" : name, {},
                                                                           given...);
  }
};

}  // namespace operation

/// The einsum of up to eight tensors: C[I_X, K_Y] = Σ_J A[I, J] B[J, K]. Labels match by name, as in numpy.einsum. The
/// result has the sharding that the call names, and is partial only if the call says so. A policy may follow the
/// tensors: os::gather_left, os::gather_right, os::reduce_result, os::no_communication, os::at_most<bytes>,
/// os::within(bytes), os::idle(Z), os::for_these_sizes, os::least_time<n>, os::overlapped (docs/budgets.md), or
/// os::sum_over(N) for axes that only one operand has. For an operand with repeated labels, pass os::relabel<I, I>(A).
/// The plan also chooses the order of the products. Collective over the mesh axes that the tensors name.
/// @throws ostraka::error, on all devices alike, if extents disagree, the mesh lacks a mesh axis of the result, or the
/// plan moves more than a budget or takes more workspace than a limit
template <auto... Out, class A, class... OperandsThenPolicy>
[[nodiscard]] constexpr auto einsum(A const& a, OperandsThenPolicy const&... more) {
  return detail::operate(operation::einsum<sharding_of<Out...>>{}, a, more...);
}

}  // namespace ostraka
