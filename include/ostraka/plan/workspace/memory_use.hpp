// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The memory that a plan takes beyond operands and result, and the elements that it copies. The plan is
/// lowered for the device with the largest blocks, and counted. Lowering determines what each step makes, packs and
/// unpacks (lower_move.hpp, lower_product.hpp).

#include <cstdint>

#include <ostraka/plan/lowering/lower.hpp>
#include <ostraka/plan/spec/plan.hpp>

namespace ostraka::planner {

/// The number of elements that a plan holds at once beyond operands and result, and that it copies outside its local
/// contractions, on the device with the largest blocks. For the result it counts the memory of an operation that adds
/// to the old contents, and the copies of one that overwrites them.
struct memory_use {
  std::int64_t peak = 0;
  std::int64_t copied = 0;
};

/// The memory use of a plan. If the extents are those of one of several passes, it is that of the largest pass. It is
/// exact if the labels' extents are multiples of the numbers of their parts, and an upper bound otherwise.
[[nodiscard]] constexpr memory_use memory_of(einsum_plan const& plan, extents const& e) {
  tally t;
  lower(plan, decide(plan, e), last_device(e), t);
  return {t.peak, t.copied};
}

/// The number of elements held at once beyond operands and result, on the device with the largest blocks.
[[nodiscard]] constexpr std::int64_t peak_workspace(einsum_plan const& plan, extents const& e) {
  return memory_of(plan, e).peak;
}

/// The number of elements copied outside local contractions, on the device with the largest blocks: packed, unpacked,
/// and passed on.
[[nodiscard]] constexpr std::int64_t copied_elements(einsum_plan const& plan, extents const& e) {
  return memory_of(plan, e).copied;
}

}  // namespace ostraka::planner
