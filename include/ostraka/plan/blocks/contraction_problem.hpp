// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A contraction of two strided blocks as plain numbers: A[I, J] B[J, K] -> C[I, K] is the labels I, J, K with
/// a stride of each block along each. Lowering records it, and kernels read it.

#include <cstdint>

#include <ostraka/plan/blocks/strided_layout.hpp>

namespace ostraka::planner {

/// Labels with their extents, and for each operand whether it has the label and with which stride. A stride of 0 is a
/// stride, not an absence.
struct contraction {
  int labels = 0;
  std::int64_t extent[max_loops] = {};
  std::int64_t a[max_loops] = {}, b[max_loops] = {}, c[max_loops] = {};
  bool in_a[max_loops] = {}, in_b[max_loops] = {}, in_c[max_loops] = {};
};

/// The blocks of a contraction, and their numbers in tables: left, right, result.
enum class operand { a, b, c };

[[nodiscard]] constexpr std::int64_t* strides_of(contraction& p, operand which) {
  return which == operand::a ? p.a : which == operand::b ? p.b : p.c;
}
[[nodiscard]] constexpr std::int64_t const* strides_of(contraction const& p, operand which) {
  return which == operand::a ? p.a : which == operand::b ? p.b : p.c;
}
[[nodiscard]] constexpr bool* presence_of(contraction& p, operand which) {
  return which == operand::a ? p.in_a : which == operand::b ? p.in_b : p.in_c;
}
[[nodiscard]] constexpr bool const* presence_of(contraction const& p, operand which) {
  return which == operand::a ? p.in_a : which == operand::b ? p.in_b : p.in_c;
}

}  // namespace ostraka::planner
