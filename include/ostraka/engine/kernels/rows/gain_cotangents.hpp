// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The cotangent of a norm's gain on one device's block: for each index k of the rows, the sum over all rows
/// of g (x − mean) factor. Threads divide the rows into shares that depend only on the number of rows, so that equal
/// runs give equal bits.

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/rows/row_cotangents.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

namespace detail {

/// The number of rows of a column that are summed in T; these sums are then added in double.
inline constexpr std::int64_t summed_rows = 64;

/// totals[k] += part[k], and clears part[k].
template <class T>
void flush_columns(std::int64_t n, double* totals, T* part) {
  for (std::int64_t k = 0; k < n; ++k) {
    totals[k] += static_cast<double>(part[k]);
    part[k] = T(0);
  }
}

/// totals[k] += Σ over groups [begin, end) of g (x − mean) factor. `part` holds a row.
template <class X>
void sum_columns(rows_and_cotangents<X> const& in, std::int64_t begin, std::int64_t end, double* totals,
                 accumulator_of_t<X>* part) {
  using T = accumulator_of_t<X>;
  std::int64_t const n = in.rows.length, step = in.rows.step;
  for (std::int64_t k = 0; k < n; ++k) part[k] = T(0);
  for (std::int64_t o = begin; o < end; ++o) {
    X const* const x = in.x + o * n * step;
    X const* const g = in.g + o * n * step;
    if (step == 1) {
      T const mean = in.mean_of(o), r = in.factor_of(o);
      for_each_independent(
          n, [=](std::int64_t k) { part[k] += static_cast<T>(g[k]) * ((static_cast<T>(x[k]) - mean) * r); });
    } else {
      for (std::int64_t k = 0; k < n; ++k)
        part[k] += sum_of_run<true, T>(step, [=, &in](std::int64_t i) {
          T const deviation = static_cast<T>(x[k * step + i]) - in.mean_of(o * step + i);
          return static_cast<T>(g[k * step + i]) * (deviation * in.factor_of(o * step + i));
        });
    }
    if ((o - begin) % summed_rows == summed_rows - 1) flush_columns(n, totals, part);
  }
  flush_columns(n, totals, part);
}

/// The tasks on the host for rows that are runs: their cotangents, and their terms of the gain's cotangent.
template <class Formula, class X, class Gain>
struct cotangent_and_gain_tasks : cotangent_tasks<Formula, X, Gain> {
  using base = cotangent_tasks<Formula, X, Gain>;
  using typename base::sums;
  using typename base::T;
  using base::formula;
  using base::in;

  using base::base;

  void write_row(std::int64_t row, T const* sum, T* part) const {
    std::int64_t const first = row * in.rows.length, n = in.rows.length;
    T const mean = in.mean_of(row), r = in.factor_of(row);
    T c[2] = {};
    formula.of_row(sum, mean, r, this->total, c);
    T const c0 = c[0], c1 = c[1];
    X const* const x = in.x + first;
    X const* const g = in.g + first;
    X* __restrict const to = this->out + first;
    T* __restrict const gains = part;
    for (std::int64_t k = 0; k < n; ++k) {
      T const a = static_cast<T>(x[k]), b = static_cast<T>(g[k]);
      to[k] = static_cast<X>(formula(a, in.gained(b, k), mean, r, c0, c1));
      gains[k] += b * ((a - mean) * r);
    }
  }

  /// Writes rows [begin, end), and totals[k] <- their sum of column k. `from`: sums of the rows, or null to compute
  /// them. `part` has space for a row.
  void run_share(std::int64_t begin, std::int64_t end, sums const* from, double* totals, T* part) const {
    std::int64_t const n = in.rows.length;
    for (std::int64_t k = 0; k < n; ++k) {
      totals[k] = 0;
      part[k] = T(0);
    }
    for (std::int64_t row = begin; row < end; ++row) {
      sums own;
      if (from == nullptr) this->measure_row(row, own.sum);
      write_row(row, from == nullptr ? own.sum : from[row].sum, part);
      if ((row - begin) % summed_rows == summed_rows - 1) flush_columns(n, totals, part);
    }
    flush_columns(n, totals, part);
  }
};

/// Returns the number of shares in which columns are summed, independent of the number of threads.
inline std::int64_t shares_of_columns(std::int64_t groups, std::int64_t size) {
  constexpr std::int64_t most = 64;
  return std::clamp<std::int64_t>(std::min(groups, size / (4 * serial_elements)), 1, most);
}

/// Sums column i % n of share i / n of the rows, on a device.
template <class X>
struct sum_column {
  rows_and_cotangents<X> in;
  std::int64_t shares;
  double* to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    using T = accumulator_of_t<X>;
    std::int64_t const n = in.rows.length, k = i % n, share = i / n, rows = in.rows.count();
    double sum = 0;
    for (std::int64_t row = share * rows / shares; row < (share + 1) * rows / shares; ++row) {
      std::int64_t const at = in.rows.first(row) + k * in.rows.step;
      T const deviation = static_cast<T>(in.x[at]) - in.mean_of(row);
      sum += static_cast<double>(static_cast<T>(in.g[at]) * (deviation * in.factor_of(row)));
    }
    to[i] = sum;
  }
};

/// out[k] <- the sum of the shares' sums of column k.
template <class T>
struct add_shares {
  double const* from;
  std::int64_t n, shares;
  T* out;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    double sum = 0;
    for (std::int64_t s = 0; s < shares; ++s) sum += from[s * n + k];
    out[k] = static_cast<T>(sum);
  }
};

}  // namespace detail

/// out[k] <- Σ over rows of g (x − mean) factor: the cotangent of a gain.
template <class Exec, class X>
void sum_gain(char const* name, Exec const& exec, rows_and_cotangents<X> const& in, accumulator_of_t<X>* out) {
  using T = accumulator_of_t<X>;
  std::int64_t const n = in.rows.length, size = in.rows.size();
  std::int64_t const groups = runs_on_host<Exec> ? in.rows.outer : in.rows.count();
  std::int64_t const shares = detail::shares_of_columns(groups, size);
  kernel_scratch<double, typename Exec::memory_space> const totals(shares * n);
  if constexpr (runs_on_host<Exec>) {
    kernel_scratch<T, Kokkos::HostSpace> const parts(shares * n);
    for_each_share(name, exec, groups, shares, size, [&](std::int64_t begin, std::int64_t end, std::int64_t i) {
      double* const own = totals.data() + i * n;
      for (std::int64_t k = 0; k < n; ++k) own[k] = 0;
      detail::with_wide_vectors([&] { detail::sum_columns(in, begin, end, own, parts.data() + i * n); });
    });
  } else {
    for_each_item(name, exec, shares * n, size, detail::sum_column<X>{in, shares, totals.data()});
  }
  for_each_item(name, exec, n, shares * n, detail::add_shares<T>{totals.data(), n, shares, out});
  fence_on_host(exec);
}

/// Writes the results of pull_rows and sum_gain: gain[k] <- Σ over rows of g (x − mean) factor. On the host it takes
/// one pass. @pre the rows are runs
template <class Formula, class Exec, class X, class Gain>
void pull_rows_and_gain(char const* name, Exec const& exec, rows_and_cotangents<X, Gain> const& in,
                        Formula const& formula, std::int64_t total,
                        row_sums<accumulator_of_t<X>, Formula::sums> const* from, X* out, accumulator_of_t<X>* gain) {
  if constexpr (runs_on_host<Exec>) {
    using T = accumulator_of_t<X>;
    std::int64_t const n = in.rows.length, size = in.rows.size();
    std::int64_t const shares = detail::shares_of_columns(in.rows.outer, size);
    detail::cotangent_and_gain_tasks<Formula, X, Gain> tasks(in, formula);
    tasks.total = total;
    tasks.out = out;
    kernel_scratch<double, Kokkos::HostSpace> const totals(shares * n);
    kernel_scratch<T, Kokkos::HostSpace> const parts(shares * n);
    for_each_share(name, exec, in.rows.outer, shares, size, [&](std::int64_t begin, std::int64_t end, std::int64_t i) {
      detail::with_wide_vectors(
          [&] { tasks.run_share(begin, end, from, totals.data() + i * n, parts.data() + i * n); });
    });
    for_each_item(name, exec, n, shares * n, detail::add_shares<T>{totals.data(), n, shares, gain});
    fence_on_host(exec);
  } else {
    pull_rows(name, exec, in, formula, total, from, out);
    sum_gain(name, exec, rows_and_cotangents<X>{in.rows, in.x, in.g, in.mean, in.factor}, gain);
  }
}

}  // namespace ostraka::engine
