// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. How an operation is run once its result is there: at once, or, in pending.hpp, begun and waited for later.
/// A verb is told which by a type.

#include <utility>

#include <ostraka/engine/run/execute.hpp>

namespace ostraka::detail {

struct at_once {
  static constexpr bool is_begun = false;

  /// Where nothing is to be done: the result is a view of the operand.
  template <class Result>
  static Result same(Result const& result) {
    return result;
  }

  /// Runs what `begin` begins.
  template <class Result, class Operands, class Begin>
  static Result launch(Result const& result, [[maybe_unused]] Operands const& operands, Begin const& begin) {
    begin().wait();
    return result;
  }

  /// Runs what engine::run is told here. `operands`: views that are read, as a tuple.
  template <class Result, class Operands, class... Run>
  static Result run(Result const& result, [[maybe_unused]] Operands const& operands, Run&&... run) {
    engine::run(std::forward<Run>(run)...);
    return result;
  }
};

}  // namespace ostraka::detail
