// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Accumulators reduce a row of elements to a state that one number of the element type cannot hold: the
/// largest element and its place (extreme_element.hpp), mean and squared deviations (moments.hpp), the sum of squares,
/// the number of nonzero elements (sums.hpp). An accumulator has a `state`; it takes elements along a row, across
/// adjacent rows, or one at a time, and combines the states of parts. accumulate_block.hpp applies it to a block.
///
///     start()                              the state of no elements
///     along(state, x, n, index, step)      x[0], …, x[n − 1], whose indices are index, index + step, …
///     across<R>(row, first, x, next, n, steps)
///                                          R elements x[i], x[next + i], … of row first + i < accumulated_rows, for
///                                          i < n; each row has taken `steps` elements before
///     at(row, i, index_of)                 the state of row i; index_of(s) is the index of the element of step s
///     take(state, x, index)                one element, on a device
///     combined(earlier, later)             the state of both

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/loops/vectors.hpp>

namespace ostraka::engine {

/// The number of rows that an accumulator takes together: few, so that their states stay in the first cache, but at
/// least a page.
template <class Element>
inline constexpr std::int64_t accumulated_rows = std::max<std::int64_t>(1024, detail::elements_of_page<Element>);

/// The number of elements of each row that it takes at a time, if possible. They stay in registers, which saves moves
/// between registers and states.
inline constexpr int accumulated_steps = 8;

/// The number of elements that it takes along a row at a time, so that a second pass finds them in the cache, and the
/// number of lanes among them: enough to hide the latency of an addition with vectors of any width, and few enough for
/// short rows.
inline constexpr std::int64_t accumulated_run = 4096;
inline constexpr int accumulated_lanes = 32;

}  // namespace ostraka::engine
