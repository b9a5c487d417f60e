// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. What a row of elements is reduced to where one number of the elements' type does not say it: the largest
/// element and where it stands (extreme_element.hpp), mean and squared deviations (moments.hpp), the sum of squares,
/// how many are not zero (sums.hpp). An accumulator has a `state`, and takes elements along a row, across rows that lie
/// side by side, or one at a time; states of parts are combined. accumulate_block.hpp walks a block with it.
///
///     start()                              the state of no elements
///     along(state, x, n, index)            x[0], …, x[n − 1], whose indices are index, index + 1, …
///     across(row, x, n, steps)             x[i] belongs to row i, i < n ≤ accumulated_rows; there were so many before
///     at(row, i, index_of)                 the state of row i; index_of(steps) is the index that was taken then
///     take(state, x, index)                one element, on a device
///     combined(earlier, later)             the state of both

#include <cstdint>

namespace ostraka::engine {

/// Rows that an accumulator takes together.
inline constexpr std::int64_t accumulated_rows = 1024;

/// Elements that it takes along a row at a time, so that a second look at them finds them in the cache.
inline constexpr std::int64_t accumulated_run = 4096;

}  // namespace ostraka::engine
