// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What an operation of the vocabulary is, and the one way in which all are called. An operation is a small
/// struct in a file of its own, by which its rules are found:
///
///     template <class Along>
///     struct softmax : detail::moves_nothing {            // or `bytes(operands…)`: what a device moves, foretold
///       static constexpr char const* name = "softmax";    // in profiles, errors and docs/operations.md
///       template <class... Operands>
///       using verdict = …;                                // reason::ok, or why these operands are refused
///       template <class... Operands>
///       auto operator()(Operands const&…) const;          // the result. @pre the verdict is ok
///     };
///
/// What is known while compiling (axes, the sharding that is asked for) are template arguments, what is known when the
/// program runs (an epsilon, a number of places) are members. The function that users call takes TensorOrVariable,
/// makes the struct and hands it to `operate` with the operands, so that whatever holds for all operations is written
/// here once. Of variables the derivative is recorded, by a rule that stands in gradient/rules/.

#include <cstdint>

#include <ostraka/detail/calls/operation.hpp>
#include <ostraka/tensors/after_error.hpp>
#include <ostraka/types/values/differentiated.hpp>

namespace ostraka {

/// What operations that have a derivative take: a tensor, or one whose derivative is wanted.
template <class T>
concept TensorOrVariable = Tensor<T> || Variable<T>;

namespace detail {

/// The base of operations that need no communication.
struct moves_nothing {
  template <class... Operands>
  [[nodiscard]] std::int64_t bytes(Operands const&...) const {
    return 0;
  }
};

/// Raises the reason, or does it.
template <class Operation, class First, class... Rest>
constexpr auto operate(Operation const& operation, First const& first, Rest const&... rest) {
  if constexpr (any_variable<First, Rest...>)
    return differentiate(operation, first, rest...);  // of gradient/rules/operations/operations.hpp
  else if constexpr (reason::ok_or_raise<typename Operation::template verdict<First, Rest...>>())
    return operation(first, rest...);
  else
    return after_error_of<typename First::value_type, typename First::sharding_type, typename First::space>();
}

}  // namespace detail

/// Bytes that an operation on these operands moves, per device: all devices' bytes over the number of devices, rounded
/// up. `os::bytes_of(os::operation::softmax<over<V_axis, X_mesh>>(), scores)`
template <class Operation, Tensor... Operands>
[[nodiscard]] std::int64_t bytes_of(Operation const& operation, Operands const&... operands) {
  return operation.bytes(operands...);
}

}  // namespace ostraka
