// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Reports the local work of a run to listeners: its flops, and the memory that it touches.

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/record/events.hpp>
#include <ostraka/plan/lowering/schedule.hpp>

namespace ostraka::engine {

/// True if flops are counted or reported.
inline bool counts_flops() { return counted_flops != nullptr || has_listeners(); }

/// Counts and reports the flops of a product of two operands, or of a sum of one. Like plans, it counts one addition
/// for each multiplication.
[[gnu::cold, gnu::noinline]] inline void count_flops(contraction const& p, bool of_two, int element_bytes) {
  std::int64_t products = 1, a = 1, b = of_two ? 1 : 0, c = 1;
  for (int l = 0; l < p.labels; ++l) {
    products *= p.extent[l];
    if (p.in_a[l]) a *= p.extent[l];
    if (p.in_b[l]) b *= p.extent[l];
    if (p.in_c[l]) c *= p.extent[l];
  }
  if (counted_flops != nullptr) *counted_flops += 2 * products;
  if (has_listeners()) report_computed(2 * products, (a + b + c) * element_bytes, element_bytes);
}

/// Reports that a block is written, and, if `times` is 2, that another one is read.
[[gnu::cold, gnu::noinline]] inline void report_writes(planner::buffer_block const& to, int times, int element_bytes) {
  report_computed(0, times * to.where.size() * element_bytes, element_bytes);
}

/// The same for all copies and fills of an action that is only priced.
[[gnu::cold, gnu::noinline]] inline void report_all_writes(planner::schedule const& s, planner::action const& a,
                                                           int element_bytes) {
  for (int k = 0; k < a.items; ++k) {
    planner::repeated_writes const& w = s.written[static_cast<std::size_t>(a.item + k)];
    report_computed(0, (w.reads ? 2 : 1) * w.elements * element_bytes, element_bytes, w.number);
  }
}

}  // namespace ostraka::engine
