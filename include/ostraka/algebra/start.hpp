// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::start_einsum<I/X, K>(A, B)`, `os::start_reshard<I/Y, J>(A)`: operations that begin now and are waited
/// for later, so that other work of a device hides their messages. docs/design/execution.md says when MPI moves
/// messages meanwhile.

#include <ostraka/algebra/einsum.hpp>
#include <ostraka/moves/pending.hpp>
#include <ostraka/moves/reshard.hpp>

namespace ostraka {

/// Begins os::einsum and returns when the first message is under way. The operation reads its operands until `wait`: do
/// not write to them before that. Collective as os::einsum is; all devices begin and wait in the same order.
template <auto... Out, class A, class... OperandsThenPolicy>
[[nodiscard]] auto start_einsum(A const& a, OperandsThenPolicy const&... more) {
  return detail::operate_how(detail::later{}, operation::einsum<sharding_of<Out...>>{}, a, more...);
}

/// Begins os::reshard. The operation reads its operand until `wait`.
template <auto... To, OperandOrPolicy A, OperandOrPolicy Policy = policy<planner::admit::any>>
[[nodiscard]] auto start_reshard(A const& a, Policy policy = {}) {
  return detail::operate_how(detail::later{}, operation::reshard<sharding_of<To...>>{}, a, policy);
}

}  // namespace ostraka
