// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. How an operation runs once its result is allocated: at once, or, in pending.hpp, begun now and waited for
/// later. A type tells the operation which.

#include <utility>

#include <ostraka/engine/run/execute.hpp>

namespace ostraka::detail {

struct at_once {
  static constexpr bool is_begun = false;

  /// Returns the result if there is nothing to do: it is a view of the operand.
  template <class Result>
  static Result same(Result const& result) {
    return result;
  }

  /// Runs the operation that `begin` begins.
  template <class Result, class Operands, class Begin>
  static Result launch(Result const& result, [[maybe_unused]] Operands const& operands, Begin const& begin) {
    begin().wait();
    return result;
  }

  /// Calls engine::run with these arguments. `operands`: a tuple of the views that the run reads.
  template <class Result, class Operands, class... Run>
  static Result run(Result const& result, [[maybe_unused]] Operands const& operands, Run&&... run) {
    engine::run(std::forward<Run>(run)...);
    return result;
  }
};

}  // namespace ostraka::detail
