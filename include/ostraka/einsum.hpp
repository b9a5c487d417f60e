// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::einsum<I/X, K/Y>(A, B)`: C[I_X, K_Y] = A · B, summed over the labels that C lacks. Naming the result is what
/// authorises communication; os::plan<I/X, K/Y>(A, B) tells beforehand which.

#include <ostraka/after_error.hpp>
#include <ostraka/engine/execute.hpp>
#include <ostraka/operation.hpp>
#include <ostraka/plan.hpp>

namespace ostraka {

namespace detail {

// One or two operands, planned by types and run on blocks.
template <class Out, class Policy, class First, class... Rest>
auto run_einsum(char const* operation, engine::reduction how, First const& first, Rest const&... rest) {
  using types = einsum_types<Out, Policy, First, Rest...>;
  using value = typename First::value_type;
  using result_type = basic_tensor<value, Out, typename First::space>;
  engine::locale const w = locale_of<typename types::labels, typename types::mesh>(operation, first, rest...);
  result_type const result = allocate_in<result_type, typename types::labels>(w, first.mesh_handle(), typename result_type::axes{});
  value const* const blocks[] = {first.local().data(), rest.local().data()...};
  engine::run(execution_space_of<First>(), w, types::plan, blocks, result.local().data(), how);
  return result;
}

template <class Out, class Policy, class First, class... Rest>
auto checked_einsum(First const& first, Rest const&... rest) {
  using verdict = typename first_fault<einsum_verdict<Out, Policy, First, Rest...>, typename same_elements<First, Rest...>::type>::type;
  reason::raise<verdict>();
  if constexpr (std::is_same_v<verdict, reason::ok>)
    return run_einsum<Out, Policy>("einsum", engine::reduction::sum, first, rest...);
  else
    return after_error_of<typename First::value_type, Out, typename First::space>();
}

}  // namespace detail

/// The einsum of one or two tensors: numpy's rule on names, with the sharding of the result as asked for (partial only if that is
/// asked for). Collective over the mesh axes that the tensors name.
/// @throws ostraka::error, on all devices alike, if extents disagree or the mesh lacks a mesh axis of the result
template <auto... Out, Tensor A>
[[nodiscard]] auto einsum(A const& a) {
  return detail::checked_einsum<sharding_of<Out...>, policy<planner::admit::any>>(a);
}

template <auto... Out, Tensor A, Tensor B>
[[nodiscard]] auto einsum(A const& a, B const& b) {
  return detail::checked_einsum<sharding_of<Out...>, policy<planner::admit::any>>(a, b);
}

/// The same with a policy: os::gather_left, os::gather_right, os::reduce_result, os::no_communication, os::idle(Z).
template <auto... Out, Tensor A, planner::admit Rule, class... Idle>
[[nodiscard]] auto einsum(A const& a, policy<Rule, Idle...>) {
  return detail::checked_einsum<sharding_of<Out...>, policy<Rule, Idle...>>(a);
}

template <auto... Out, Tensor A, Tensor B, planner::admit Rule, class... Idle>
[[nodiscard]] auto einsum(A const& a, B const& b, policy<Rule, Idle...>) {
  return detail::checked_einsum<sharding_of<Out...>, policy<Rule, Idle...>>(a, b);
}

/// Not yet: more than two operands.
template <auto... Out, Tensor A, Tensor B, Tensor C, class... More>
auto einsum(A const&, B const&, C const&, More const&...) {
  reason::raise<reason::too_many_operands<3 + static_cast<int>(sizeof...(More))>>();
  return detail::after_error_of<typename A::value_type, sharding_of<Out...>, typename A::space>();
}

}  // namespace ostraka
