// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::advise_parallelism(model, machine, batch)`: what bounds each of data, fully sharded, tensor, context,
/// expert and pipeline parallelism, and how far each can go, before you write a line of the program. Nothing runs, and
/// only the standard library is needed.
///
///     constexpr os::transformer_shape model{.width = 5120, .inner = 13824, .heads = 40, .head_width = 128};
///     auto const a = os::advise_parallelism(model, machine, {.sequences = 1024, .length = 4096});
///     std::puts(os::describe(a).c_str());

#include <ostraka/types/support/language.hpp>

#include <ostraka/plan/hardware/machines.hpp>
#include <ostraka/plan/parallelism/parallelism_advice.hpp>

namespace ostraka {

using planner::advise_parallelism;
using planner::best_mixture;
using planner::parallelism_advice;
using planner::reach_of;

/// A line for each parallelism: its ways, its operations per byte, the machine's operations per byte, and the bound.
[[nodiscard]] inline std::string describe(parallelism_advice const& a) { return planner::describe(a); }

}  // namespace ostraka
