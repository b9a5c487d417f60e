// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::reshard_into(B, A)`: A under the sharding of B, into an existing tensor. A[I_X, J] → B[I, J_X]

#include <ostraka/calls/shared_memory.hpp>
#include <ostraka/moves/reshard.hpp>

namespace ostraka {

namespace detail {

template <class B, class A, class Policy>
using reshard_into_verdict = first_fault<writable_verdict<B>, blocks_verdict<sharding<>, A, B>, target_verdict<B, A>,
                                         reshard_verdict<A, sharding_in<B>, Policy>, elements_verdict<B, A>>;

template <class Types, class Policy, class B, class A>
void run_reshard_into(B const& b, A const& a, Policy const& policy) {
  using value = typename A::value_type;
  engine::steps_ahead const ahead = steps_ahead_of<Policy, Types>(Types::steps);
  engine::execution_context const w =
      context_of<typename Types::labels, typename Types::mesh>("reshard_into", ahead, a, b);
  memory_range const read = memory_of(a);
  refuse_shared_memory(w, ahead, "os::reshard", memory_of(b), &read, 1);
  auto const plan = moves_to_run<Types, static_cast<int>(sizeof(value))>(w, policy);
  value const* const block = elements_of(a);
  static thread_local constinit engine::schedule_memory* memory = nullptr;
  engine::run(execution_space_of<A>(), w, plan, &block, b.local().data(), engine::update<value>(),
              engine::per_thread(memory), functions_of_call<Policy, Types, value, typename A::space>());
}

template <class To, class B, class A, class Policy>
struct written_to<operation::reshard<To>, B, A, Policy> {
  using verdict = reshard_into_verdict<B, A, Policy>;
  static void run(operation::reshard<To> const&, B const& b, A const& a, Policy const& policy) {
    run_reshard_into<reshard_types<A, To>>(b, a, policy);
  }
};

}  // namespace detail

/// B <- A under B's sharding and in its order of axes. B's type authorises the communication; os::no_communication,
/// os::at_most<bytes> or os::within(bytes) after the tensors bounds it. Received elements are written to B itself.
/// Collective over the mesh axes that both name.
/// @throws ostraka::error, on all devices alike, if extents disagree, if B is A, or if the plan moves more than a
/// budget
template <TensorOrVariable B, TensorOrVariable A, class Policy = policy<planner::admit::any>>
  requires is_policy<Policy>
void reshard_into(B const& b, A const& a, Policy const& policy = {}) {
  detail::operate_how(detail::into<B>{b}, operation::reshard<sharding_in<B>>{}, a, policy);
}

}  // namespace ostraka
