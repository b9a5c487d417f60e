// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The state that a row of elements is reduced to if one number of the elements' type cannot hold it: the
/// largest element and its place (extreme_element.hpp), mean and squared deviations (moments.hpp), the sum of squares,
/// the number of nonzero elements (sums.hpp). An accumulator has a `state`, and takes elements along a row, across rows
/// that lie side by side, or one at a time; states of parts are combined. accumulate_block.hpp walks a block with it.
///
///     start()                              the state of no elements
///     along(state, x, n, index, step)      x[0], …, x[n − 1], whose indices are index, index + step, …
///     across<R>(row, first, x, next, n, steps)
///                                          x[i], x[next + i], … belong to row first + i < accumulated_rows, i < n, R
///                                          of them; there were so many before
///     at(row, i, index_of)                 the state of row i; index_of(steps) is the index that was taken then
///     take(state, x, index)                one element, on a device
///     combined(earlier, later)             the state of both

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/loops/vectors.hpp>

namespace ostraka::engine {

/// The rows that an accumulator takes together: few, so that their states stay in the nearest cache, but at least a
/// page.
template <class Element>
inline constexpr std::int64_t accumulated_rows = std::max<std::int64_t>(1024, detail::elements_of_page<Element>);

/// Elements of each row that it takes at a time, if there are so many: they are in registers, so that less is moved
/// between registers and states.
inline constexpr int accumulated_steps = 8;

/// Elements that it takes along a row at a time, so that a second pass finds them in the cache, and the lanes among
/// them: enough for vectors of any width to hide the latency of an addition, few for short rows.
inline constexpr std::int64_t accumulated_run = 4096;
inline constexpr int accumulated_lanes = 32;

}  // namespace ostraka::engine
