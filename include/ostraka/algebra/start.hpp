// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::start_einsum<I/X, K>(A, B)`, `os::start_reshard<I/Y, J>(A)`: begun now, waited for later, so that what
/// else a device does hides their messages. docs/design/execution.md says when MPI moves them meanwhile.

#include <ostraka/algebra/einsum.hpp>
#include <ostraka/moves/pending.hpp>
#include <ostraka/moves/reshard.hpp>

namespace ostraka {

/// os::einsum, begun: it comes back when the first message is under way. It reads the operands
/// until `wait`: write nothing to them before.
/// Collective as os::einsum is; devices begin and wait in the same order.
template <auto... Out, class A, class... OperandsThenPolicy>
[[nodiscard]] auto start_einsum(A const& a, OperandsThenPolicy const&... more) {
  return detail::operate_how(detail::later{}, operation::einsum<sharding_of<Out...>>{}, a, more...);
}

/// os::reshard, begun. It reads the operand until `wait`.
template <auto... To, OperandOrPolicy A, OperandOrPolicy Policy = policy<planner::admit::any>>
[[nodiscard]] auto start_reshard(A const& a, Policy policy = {}) {
  return detail::operate_how(detail::later{}, operation::reshard<sharding_of<To...>>{}, a, policy);
}

}  // namespace ostraka
