// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The price of an operation on existing operands (calls/moves.hpp), and the bases of operations without one.

#include <cstdint>

#include <ostraka/calls/operate.hpp>

namespace ostraka {

namespace detail {

/// The base of operations that need no communication.
struct moves_nothing {
  template <class... Operands>
  using moves = nothing_moved;
};

/// The base of operations on blocks that the library alone calls, with operands that fit: it refuses none, and has no
/// price unless the operation has a `moves` of its own.
template <class Operation>
struct internal_step : callable<Operation>, moves_nothing {
  template <class... Operands>
  using verdict = reason::ok;
};

/// True if the types of the operands are enough to know an operation's price.
template <class Operation, class... Given>
consteval bool has_moves() {
  if constexpr (requires { typename Operation::template moves<Given...>; })
    return !std::is_void_v<typename Operation::template moves<Given...>>;
  else
    return false;
}

/// The extent of the axis that an operation makes, by name, where the operation holds it; else 0.
template <class Operation>
constexpr auto extent_made_by(Operation const& operation) {
  if constexpr (requires { operation.made(); })
    return operation.made();
  else
    return 0;
}

}  // namespace detail

/// The bytes that an operation on these operands moves, per device: all devices' bytes over the number of devices,
/// rounded up. `os::bytes_of(os::operation::softmax<over<V_axis, X_mesh>>(), scores)`
template <class Operation, class... Given>
[[nodiscard]] std::int64_t bytes_of(Operation const& operation, Given const&... given) {
  if constexpr (detail::has_moves<Operation, Given...>())
    return Operation::template moves<Given...>::bytes(
        detail::sizes_of_call(given..., detail::extent_made_by(operation)));
  else
    return operation.moved(given...).bytes();  // a number that the program gives decides
}

}  // namespace ostraka
