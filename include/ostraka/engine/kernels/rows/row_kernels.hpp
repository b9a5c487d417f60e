// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Softmax and norms of one device's block along one of its dimensions: the statistic of each row, and each
/// element's formula (row_statistics.hpp, row_formulas.hpp); on the host by row_tasks.hpp, on accelerators a row a
/// thread.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/rows/row_formulas.hpp>
#include <ostraka/engine/kernels/rows/row_tasks.hpp>
#include <ostraka/engine/kernels/rows/rows_of_block.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

namespace detail {

/// A row on a device.
template <class X, class Mask>
struct row_element {
  rows_of_block<X, Mask> const& in;
  std::int64_t row;
  KOKKOS_INLINE_FUNCTION auto operator()(std::int64_t k) const { return in.element(row, k); }
};

template <class Statistic, class X, class Mask>
struct measure_row {
  rows_of_block<X, Mask> in;
  Statistic* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    to[row] = Statistic::of_elements(in.rows.length, row_element<X, Mask>{in, row});
  }
};

template <class Formula, class X, class Mask, class Gain, class Bias>
struct write_row {
  using T = accumulator_of_t<X>;
  rows_of_block<X, Mask> in;
  Formula formula;
  std::int64_t total;
  X* out;
  Gain const* gain;
  Bias const* bias;
  typename Formula::statistic const* from;  // null: of the row itself
  typename Formula::statistic* kept;        // null: not wanted

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    row_element<X, Mask> const x{in, row};
    auto const statistic = from != nullptr ? from[row] : Formula::statistic::of_elements(in.rows.length, x);
    if (kept != nullptr) kept[row] = statistic;
    row_coefficients<T> const c = formula.of_row(statistic, total);
    for (std::int64_t k = 0; k < in.rows.length; ++k) {
      T y = formula(x(k), c.a, c.b);
      if constexpr (HidesElements<Formula>)
        if (formula.hides && x(k) == minus_infinity<T>) y = Formula::hidden;
      if constexpr (!std::is_same_v<Gain, no_vector>) y = y * static_cast<T>(gain[k]);
      if constexpr (!std::is_same_v<Bias, no_vector>) y = y + static_cast<T>(bias[k]);
      out[in.rows.first(row) + k * in.rows.step] = static_cast<X>(y);
    }
  }
};

}  // namespace detail

/// Computes the statistic of each row.
template <class Formula, class Exec, class X, class Mask>
void measure_rows(char const* name, Exec const& exec, rows_of_block<X, Mask> const& in,
                  typename Formula::statistic* to) {
  if (in.rows.count() == 0) return;
  if constexpr (runs_on_host<Exec>) {
    detail::row_tasks<Formula, X, Mask> const tasks(in, Formula{});
    detail::share_rows(name, exec, tasks.count(), in.rows,
                       [&](std::int64_t begin, std::int64_t end) { tasks.measure_share(begin, end, to); });
  } else {
    for_each_item(name, exec, in.rows.count(), in.rows.size(),
                  detail::measure_row<typename Formula::statistic, X, Mask>{in, to});
    exec.fence();
  }
}

/// out <- the formula of each element, times its gain, plus its bias. `total`: elements of a whole row; these may be a
/// part. `from`: the rows' statistics; null: it computes them. `kept`: the place for these, or null.
template <class Formula, class Exec, class X, class Mask, class Gain, class Bias>
void write_rows(char const* name, Exec const& exec, rows_of_block<X, Mask> const& in, Formula const& formula,
                std::int64_t total, typename Formula::statistic const* from, X* out, Gain const* gain, Bias const* bias,
                typename Formula::statistic* kept = nullptr) {
  if (in.rows.count() == 0) return;
  if constexpr (runs_on_host<Exec>) {
    detail::row_tasks<Formula, X, Mask, Gain, Bias> tasks(in, formula);
    tasks.total = total;
    tasks.out = out;
    tasks.gain = gain;
    tasks.bias = bias;
    if constexpr (std::is_same_v<Formula, softmax_formula<accumulator_of_t<X>>>)
      if (from == nullptr && kept == nullptr && tasks.keeps_long_rows())
        return detail::run_long_rows(name, exec, tasks);
    detail::share_rows(name, exec, tasks.count(), in.rows, [&](std::int64_t begin, std::int64_t end) {
      from != nullptr ? tasks.write_share(begin, end, from) : tasks.run_share(begin, end, kept);
    });
  } else {
    for_each_item(name, exec, in.rows.count(), in.rows.size(),
                  detail::write_row<Formula, X, Mask, Gain, Bias>{in, formula, total, out, gain, bias, from, kept});
    exec.fence();
  }
}

}  // namespace ostraka::engine
