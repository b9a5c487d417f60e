// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A rate that depends on the size of one operation. Passes over memory, messages and reductions are slower
/// beyond the size of a cache, and libraries use other algorithms for long ones. Rates are measured at some sizes.
/// Between two of them time is linear, α + bytes · β for each pair: the piecewise linear model of MPI's messages
/// (Clauss et al., "Single Node On-Line Simulation of MPI Applications with SMPI", 2011).
///
///     bytes    below the first   between two of them    from the last on
///     time     bytes / rate      linear                 bytes / rate of the last

#include <cstddef>

namespace ostraka::planner {

/// A rate, per second, for operations of one size, in bytes for instance.
struct rate_at {
  double size = 0;
  double rate = 0;

  friend constexpr bool operator==(rate_at const&, rate_at const&) = default;
};

/// A rate that depends on the size of an operation, by a table of sizes.
struct rates_by_size {
  static constexpr int most = 12;

  int count = 0;  ///< 0: there is one rate for all sizes
  rate_at at[most]{};

  /// Adds a rate. A thirteenth one replaces the last one.
  /// @pre a larger size than the last one's, and a rate > 0
  constexpr void add(rate_at const& r) { at[count < most ? count++ : most - 1] = r; }
  [[nodiscard]] constexpr rate_at const& last() const { return at[count - 1]; }

  friend constexpr bool operator==(rates_by_size const&, rates_by_size const&) = default;
};

/// Seconds of an operation of this size. Below the first size the rate is `rate`, or the first one's if `rate` is 0.
/// @pre there is a rate
[[nodiscard]] constexpr double seconds_at(double rate, rates_by_size const& sizes, double size) {
  if (sizes.count == 0 || size < sizes.at[0].size) return size / (rate > 0 ? rate : sizes.at[0].rate);
  if (size >= sizes.last().size) return size / sizes.last().rate;
  int i = 1;
  while (size > sizes.at[i].size) ++i;
  rate_at const& below = sizes.at[i - 1];
  rate_at const& above = sizes.at[i];
  double const begin = below.size / below.rate;
  double const end = above.size / above.rate;
  return begin + (end - begin) * (size - below.size) / (above.size - below.size);
}

}  // namespace ostraka::planner
