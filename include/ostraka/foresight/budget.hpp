// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The cost of a whole training step as a constant expression, so that a program can be held to it:
///
///     using train_step = os::training_step<loss, parameters, batch>;
///     static_assert(os::budget<train_step>(B = 256, X = 8).bytes <= 4'000'000);
///
/// If all extents are static, call `os::budget<train_step>()`. Nothing runs and nothing is allocated.

#include <cstdint>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>

namespace ostraka {

/// A training step as a type: the value and gradient of a loss. `Loss` is a type without members that is called with
/// parameters and data of these types. If the parameters are a tree with vectors, `Shape` makes it with names in its
/// leaves.
template <class Loss, class Shape, class Parameters, class... Data>
struct training_step_of_shape {
  static constexpr auto plan = gradient_plan<Parameters, Data...>(Loss{}, Shape{});
};
template <class Loss, class Parameters, class... Data>
struct training_step : training_step_of_shape<Loss, detail::default_shape<Parameters>, Parameters, Data...> {};

/// The cost of a training step. Bytes moved and flops are those of the plans (os::gradient_plan); memory is that of the
/// device with the largest blocks, in bytes.
struct step_budget {
  std::int64_t bytes = 0;        ///< bytes that a device sends, rounded up in each operation
  std::int64_t total_bytes = 0;  ///< bytes that all devices send together; exact
  std::int64_t flops = 0;        ///< of products and sums, on a device
  std::int64_t operands = 0;     ///< memory of parameters and data
  std::int64_t memory = 0;       ///< peak of the memory in use, not counting operands
  std::int64_t tape = 0;         ///< the part of `memory` that the forward keeps for the backward
  std::int64_t results = 0;      ///< the loss and the gradients
  std::int64_t workspace = 0;    ///< the most that an operation's plan sets aside; without the workspace of kernels

  friend constexpr bool operator==(step_budget const&, step_budget const&) = default;
};

/// The budget of a step. Takes extents and sizes of mesh axes by name, in os::sizes, or a mesh; static ones may be left
/// out. Exact if blocks are even; memory is an upper bound if a plan sets aside less than it may.
template <class Step, class... Given>
[[nodiscard]] constexpr step_budget budget(Given const&... given) {
  constexpr auto const& plan = Step::plan;
  detail::predicted_step const step =
      plan.ask({.total_bytes = true, .bytes = true, .flops = true, .memory = true}, given...);

  step_budget b;
  b.bytes = step.forward.bytes + step.backward.bytes;
  b.total_bytes = step.forward.total_bytes + step.backward.total_bytes;
  b.flops = step.forward.flops + step.backward.flops;
  b.operands = step.operands;
  b.memory = step.at_end.most;
  b.tape = step.tape;
  b.results = step.at_end.now;
  b.workspace = step.at_end.workspace;
  return b;
}

}  // namespace ostraka
