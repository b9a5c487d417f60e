// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::bytes_of(operation, operands…)`: the bytes that an operation moves, before it runs.

#include <cstdint>

#include <ostraka/calls/moves.hpp>

namespace ostraka {

/// The bytes that an operation on these operands moves, per device: all devices' bytes over the number of devices,
/// rounded up. `os::bytes_of(os::operation::softmax<over<V_axis, X_mesh>>(), scores)`
template <class Operation, class... Given>
[[nodiscard]] std::int64_t bytes_of(Operation const& operation, Given const&... given) {
  if constexpr (detail::has_moves<Operation, Given...>())
    return Operation::template moves<Given...>::bytes(
        detail::sizes_of_call(given..., detail::extent_made_by(operation)));
  else
    return operation.moved(given...).bytes();  // a number in the call decides the price
}

}  // namespace ostraka
