// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::reshard_into(B, A)`: A under the sharding of B, into a tensor that is there. A[I_X, J] → B[I, J_X]

#include <ostraka/detail/shared_memory.hpp>
#include <ostraka/reshard.hpp>

namespace ostraka {

namespace detail {

template <class Types, class Policy, class B, class A>
void run_reshard_into(B const& b, A const& a, Policy const& policy) {
  constexpr char const* operation = "reshard_into";
  engine::steps_ahead const steps(Types::steps);
  engine::execution_context const w = context_of<typename Types::labels, typename Types::mesh>(operation, steps, a, b);
  planner::plan_view const plan =
      overseen_plan<Types, Policy, static_cast<int>(sizeof(typename A::value_type))>(operation, w);
  memory_range const read = memory_of(a);
  refuse_shared_memory(w, steps, "os::reshard", memory_of(b), &read, 1);
  move_between<Types>(operation, w, plan, policy, a, b);
}

}  // namespace detail

/// B <- A under B's sharding, which authorises the communication; os::no_communication, os::at_most<bytes> or
/// os::within(bytes) behind the tensors bounds it. What arrives is written to B itself. Collective over the mesh axes
/// that both name.
/// @throws ostraka::error, on all devices alike, if extents disagree, if B is A, or if the plan moves more than a
/// budget
template <Tensor B, Tensor A, class Policy = policy<planner::admit::any>>
  requires is_policy<Policy>
void reshard_into([[maybe_unused]] B const& b, [[maybe_unused]] A const& a,
                  [[maybe_unused]] Policy const& policy = {}) {
  using target = sharding_in<B>;
  using verdict = typename detail::first_fault<detail::writable_verdict<B>, detail::reshard_verdict<A, target, Policy>,
                                               typename detail::same_elements<B, A>::type>::type;
  reason::raise<verdict>();
  if constexpr (std::is_same_v<verdict, reason::ok>)
    detail::run_reshard_into<detail::reshard_types<A, target>>(b, a, policy);
}

}  // namespace ostraka
