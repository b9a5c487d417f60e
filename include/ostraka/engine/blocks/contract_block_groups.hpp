// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Contracts this device's blocks in groups of rows; the blocks' dimensions have labels.

#include <cstdint>

#include <ostraka/engine/kernels/contract_groups.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/plan/blocks/labelled_layout.hpp>

namespace ostraka::engine {

using planner::labelled_block;

/// C <- A B in groups along label `rows`; the operand that lacks it has a matrix for each group along label `group`.
/// Labels that C lacks are summed. On the host, it returns when C is written.
template <class Exec, class T>
void contract_groups_of_blocks(Exec const& exec, int rows, int group, std::int64_t const* sizes, std::int64_t count,
                               labelled_block<T const> const& a, labelled_block<T const> const& b,
                               labelled_block<T> const& c) {
  contraction_groups const groups{rows, sizes, count, {a.stride_of(group), b.stride_of(group), c.stride_of(group)}};
  contraction const of_one = planner::contraction_of(a.without(group), b.without(group), c.without(group));
  contract_groups(exec, of_one, groups, a.data, b.data, c.data);
  fence_on_host(exec);
}

}  // namespace ostraka::engine
