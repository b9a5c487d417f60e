// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. How much memory a plan takes beyond operands and result, and how much it copies: the plan is lowered for
/// the device with the largest blocks and counted. What each step makes, packs and puts in place is said where it is
/// lowered (lower_move.hpp, lower_product.hpp).

#include <cstdint>

#include <ostraka/plan/lowering/lower.hpp>
#include <ostraka/plan/spec/plan.hpp>

namespace ostraka::planner {

/// Elements that a plan holds at once beyond operands and result, and that it copies beside its local contractions, on
/// the device with the largest blocks. The result is held as if something were added to what is there, and
/// copied as if it were overwritten.
struct memory_use {
  std::int64_t peak = 0;
  std::int64_t copied = 0;
};

/// What of it a plan uses; where the extents are those of one of several passes, in the largest of them. Exact where
/// the labels' extents are multiples of their parts, a bound elsewhere.
[[nodiscard]] constexpr memory_use memory_of(einsum_plan const& plan, extents const& e) {
  tally t;
  lower(plan, decide(plan, e), last_device(e), t);
  return {t.peak, t.copied};
}

/// Elements held at once beyond operands and result, on the device with the largest blocks.
[[nodiscard]] constexpr std::int64_t peak_workspace(einsum_plan const& plan, extents const& e) {
  return memory_of(plan, e).peak;
}

/// Elements copied beside local contractions, on the device with the largest blocks: packed, put in place, taken over.
[[nodiscard]] constexpr std::int64_t copied_elements(einsum_plan const& plan, extents const& e) {
  return memory_of(plan, e).copied;
}

}  // namespace ostraka::planner
