// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The derivatives of softmax and norms on one device's block, along one of its dimensions. From the elements
/// x of a row, or its results, and their cotangents g (with a gain: gain · g), they first compute one or two sums over
/// the row, then a formula of these sums for each element. A row stays in a cache between the two. n is the number of
/// elements of a whole row.
///
///     softmax        c = Σ s g                                 s (g − c)
///     log_softmax    c = Σ g                                   g − exp(y) c
///     rms_norm       c = Σ x g,            r = 1 / √(…)        r (g − x r² c / n)
///     layer_norm     c = Σ g, d = Σ (x − μ) g                  r (g − c / n − (x − μ) r² d / n)

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/rows/row_tasks.hpp>

namespace ostraka::engine {

/// Sums over a row, or over a device's part of it.
template <class T, int N>
struct row_sums {
  using number = T;
  T sum[N] = {};

  KOKKOS_INLINE_FUNCTION static row_sums merge(row_sums const& a, row_sums const& b, std::int64_t, std::int64_t) {
    row_sums s;
    for (int i = 0; i < N; ++i) s.sum[i] = a.sum[i] + b.sum[i];
    return s;
  }
};

/// Cotangents of softmax times a factor; x is its result. An x of 0 was hidden, or has no weight: it gets 0, whatever
/// its cotangent.
template <class T>
struct softmax_cotangents {
  static constexpr int sums = 1;
  T factor;

  template <int>
  KOKKOS_FORCEINLINE_FUNCTION T term(T x, T g, T) const {
    T const y = x * g;
    return x == T(0) ? T(0) : y;
  }
  KOKKOS_INLINE_FUNCTION void of_row(T const* sum, T, T, std::int64_t, T* c) const { c[0] = sum[0]; }
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x, T g, T, T, T c, T) const {
    T const y = factor * (x * (g - c));
    return x == T(0) ? T(0) : y;
  }
};

/// Cotangents of log_softmax; x is its result. An x of −∞ was hidden, or has no weight: it gets 0.
template <class T>
struct log_softmax_cotangents {
  static constexpr int sums = 1;

  template <int>
  KOKKOS_FORCEINLINE_FUNCTION T term(T x, T g, T) const {
    return x == detail::minus_infinity<T> ? T(0) : g;
  }
  KOKKOS_INLINE_FUNCTION void of_row(T const* sum, T, T, std::int64_t, T* c) const { c[0] = sum[0]; }
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x, T g, T, T, T c, T) const {
    T const y = g - engine::exp(x) * c;
    return x == detail::minus_infinity<T> ? T(0) : y;
  }
};

template <class T>
struct rms_norm_cotangents {
  static constexpr int sums = 1;

  template <int>
  KOKKOS_FORCEINLINE_FUNCTION T term(T x, T g, T) const {
    return x * g;
  }
  KOKKOS_INLINE_FUNCTION void of_row(T const* sum, T, T r, std::int64_t n, T* c) const {
    c[0] = r * (r * sum[0]) * r / T(n);
  }
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x, T g, T, T r, T c, T) const { return r * g - x * c; }
};

template <class T>
struct layer_norm_cotangents {
  static constexpr int sums = 2;

  template <int K>
  KOKKOS_FORCEINLINE_FUNCTION T term(T x, T g, T mean) const {
    if constexpr (K == 0)
      return g;
    else
      return (x - mean) * g;
  }
  KOKKOS_INLINE_FUNCTION void of_row(T const* sum, T, T r, std::int64_t n, T* c) const {
    c[0] = r * sum[0] / T(n);
    c[1] = r * (r * sum[1]) * r / T(n);
  }
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x, T g, T mean, T r, T c, T d) const { return r * g - c - (x - mean) * d; }
};

/// A block's rows, their cotangents, and the statistics of each row: a mean and a factor, or none.
template <class X, class Gain = no_vector>
struct rows_and_cotangents {
  using T = accumulator_of_t<X>;
  row_layout rows;
  X const* x;
  X const* g;
  T const* mean = nullptr;
  T const* factor = nullptr;
  Gain const* gain = nullptr;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION T mean_of(std::int64_t row) const { return mean == nullptr ? T(0) : mean[row]; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T factor_of(std::int64_t row) const {
    return factor == nullptr ? T(1) : factor[row];
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T gained(T value, [[maybe_unused]] std::int64_t k) const {
    if constexpr (std::is_same_v<Gain, no_vector>)
      return value;
    else
      return value * static_cast<T>(gain[k]);
  }
};

namespace detail {

/// The kernel on the host: a task is a row, or a panel of adjacent rows.
template <class Formula, class X, class Gain>
struct cotangent_tasks {
  using T = accumulator_of_t<X>;
  using sums = row_sums<T, Formula::sums>;

  rows_and_cotangents<X, Gain> in;
  Formula formula;
  std::int64_t total = 0;  // elements of a whole row
  X* out = nullptr;
  std::int64_t width = 1, panels = 1;

  cotangent_tasks(rows_and_cotangents<X, Gain> const& b, Formula const& f) : in(b), formula(f) {
    if (in.rows.step == 1) return;
    constexpr std::int64_t line = elements_of_line<T>;
    std::int64_t const fits = row_piece / std::max<std::int64_t>(in.rows.length, 1) / line * line;
    width = std::min(in.rows.step, std::clamp(fits, 4 * line, widest_panel));
    panels = (in.rows.step + width - 1) / width;
  }
  [[nodiscard]] std::int64_t count() const { return in.rows.outer * panels; }

  template <int K>
  void measure_run(std::int64_t first, T mean, T* to) const {
    X const* const x = in.x + first;
    X const* const g = in.g + first;
    *to = sum_of_run<true, T>(in.rows.length, [=, this](std::int64_t k) {
      return formula.template term<K>(static_cast<T>(x[k]), in.gained(static_cast<T>(g[k]), k), mean);
    });
  }
  void measure_row(std::int64_t row, T* to) const {
    std::int64_t const first = row * in.rows.length;
    measure_run<0>(first, in.mean_of(row), to);
    if constexpr (Formula::sums > 1) measure_run<1>(first, in.mean_of(row), to + 1);
  }
  void write_row(std::int64_t row, T const* sum) const {
    std::int64_t const first = row * in.rows.length, n = in.rows.length;
    T const mean = in.mean_of(row), r = in.factor_of(row);
    T c[2] = {};
    formula.of_row(sum, mean, r, total, c);
    X const* const x = in.x + first;
    X const* const g = in.g + first;
    X* const to = out + first;
    T const c0 = c[0], c1 = c[1];
    // Each result may overwrite its own cotangent.
    for_each_independent(n, [&](std::int64_t k) {
      to[k] = static_cast<X>(formula(static_cast<T>(x[k]), in.gained(static_cast<T>(g[k]), k), mean, r, c0, c1));
    });
  }

  struct panel {
    std::int64_t row, first, wide;
  };
  [[nodiscard]] panel panel_of(std::int64_t task) const {
    std::int64_t const outer = task / panels, inner = task % panels * width;
    return {outer * in.rows.step + inner, outer * in.rows.length * in.rows.step + inner,
            std::min(width, in.rows.step - inner)};
  }
  void measure_panel(panel const& p, sums* to) const {
    T mean[widest_panel], sum[Formula::sums][widest_panel];
    for (std::int64_t i = 0; i < p.wide; ++i) {
      mean[i] = in.mean_of(p.row + i);
      for (int s = 0; s < Formula::sums; ++s) sum[s][i] = T(0);
    }
    for (std::int64_t k = 0; k < in.rows.length; ++k) {
      X const* const x = in.x + p.first + k * in.rows.step;
      X const* const g = in.g + p.first + k * in.rows.step;
      for_each_independent(p.wide, [&](std::int64_t i) {
        T const h = in.gained(static_cast<T>(g[i]), k);
        sum[0][i] += formula.template term<0>(static_cast<T>(x[i]), h, mean[i]);
        if constexpr (Formula::sums > 1) sum[1][i] += formula.template term<1>(static_cast<T>(x[i]), h, mean[i]);
      });
    }
    for (std::int64_t i = 0; i < p.wide; ++i)
      for (int s = 0; s < Formula::sums; ++s) to[i].sum[s] = sum[s][i];
  }
  void write_panel(panel const& p, sums const* from) const {
    T mean[widest_panel], r[widest_panel], c0[widest_panel], c1[widest_panel];
    for (std::int64_t i = 0; i < p.wide; ++i) {
      mean[i] = in.mean_of(p.row + i);
      r[i] = in.factor_of(p.row + i);
      T c[2] = {};
      formula.of_row(from[i].sum, mean[i], r[i], total, c);
      c0[i] = c[0];
      c1[i] = c[1];
    }
    for (std::int64_t k = 0; k < in.rows.length; ++k) {
      std::int64_t const at = p.first + k * in.rows.step;
      for_each_independent(p.wide, [&](std::int64_t i) {
        out[at + i] = static_cast<X>(formula(static_cast<T>(in.x[at + i]), in.gained(static_cast<T>(in.g[at + i]), k),
                                             mean[i], r[i], c0[i], c1[i]));
      });
    }
  }

  void measure_share(std::int64_t begin, std::int64_t end, sums* to) const {
    for (std::int64_t t = begin; t < end; ++t) {
      if (in.rows.step == 1) {
        measure_row(t, to[t].sum);
      } else {
        panel const p = panel_of(t);
        measure_panel(p, to + p.row);
      }
    }
  }
  void write_share(std::int64_t begin, std::int64_t end, sums const* from) const {
    for (std::int64_t t = begin; t < end; ++t) {
      if (in.rows.step == 1) {
        write_row(t, from[t].sum);
      } else {
        panel const p = panel_of(t);
        write_panel(p, from + p.row);
      }
    }
  }
  void run_share(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t t = begin; t < end; ++t) {
      if (in.rows.step == 1) {
        T sum[Formula::sums];
        measure_row(t, sum);
        write_row(t, sum);
      } else {
        panel const p = panel_of(t);
        sums rows[widest_panel];
        measure_panel(p, rows);
        write_panel(p, rows);
      }
    }
  }
};

/// A row on a device: computes its sums, and its results if `out` is not null.
template <class Formula, class X, class Gain>
struct pull_row {
  using T = accumulator_of_t<X>;
  using sums = row_sums<T, Formula::sums>;
  rows_and_cotangents<X, Gain> in;
  Formula formula;
  std::int64_t total;
  sums const* from;  // null: computes them
  sums* to;          // null: not wanted
  X* out;            // the same

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const first = in.rows.first(row), step = in.rows.step;
    T const mean = in.mean_of(row), r = in.factor_of(row);
    sums s;
    if (from != nullptr) {
      s = from[row];
    } else {
      for (std::int64_t k = 0; k < in.rows.length; ++k) {
        T const x = static_cast<T>(in.x[first + k * step]), h = in.gained(static_cast<T>(in.g[first + k * step]), k);
        s.sum[0] += formula.template term<0>(x, h, mean);
        if constexpr (Formula::sums > 1) s.sum[1] += formula.template term<1>(x, h, mean);
      }
    }
    if (to != nullptr) to[row] = s;
    if (out == nullptr) return;
    T c[2] = {};
    formula.of_row(s.sum, mean, r, total, c);
    for (std::int64_t k = 0; k < in.rows.length; ++k) {
      std::int64_t const at = first + k * step;
      out[at] = static_cast<X>(
          formula(static_cast<T>(in.x[at]), in.gained(static_cast<T>(in.g[at]), k), mean, r, c[0], c[1]));
    }
  }
};

}  // namespace detail

/// Computes the sums of each row.
template <class Formula, class Exec, class X, class Gain>
void sum_rows(char const* name, Exec const& exec, rows_and_cotangents<X, Gain> const& in, Formula const& formula,
              row_sums<accumulator_of_t<X>, Formula::sums>* to) {
  if (in.rows.count() == 0) return;
  if constexpr (runs_on_host<Exec>) {
    detail::cotangent_tasks<Formula, X, Gain> const tasks(in, formula);
    detail::share_rows(name, exec, tasks.count(), in.rows,
                       [&](std::int64_t begin, std::int64_t end) { tasks.measure_share(begin, end, to); });
  } else {
    for_each_item(name, exec, in.rows.count(), in.rows.size(),
                  detail::pull_row<Formula, X, Gain>{in, formula, 0, nullptr, to, nullptr});
    fence_on_host(exec);
  }
}

/// out <- the formula of each element. `total`: elements of a whole row, of which these may be a part. `from`: the
/// rows' sums, or null to compute them.
template <class Formula, class Exec, class X, class Gain>
void pull_rows(char const* name, Exec const& exec, rows_and_cotangents<X, Gain> const& in, Formula const& formula,
               std::int64_t total, row_sums<accumulator_of_t<X>, Formula::sums> const* from, X* out) {
  if (in.rows.count() == 0) return;
  if constexpr (runs_on_host<Exec>) {
    detail::cotangent_tasks<Formula, X, Gain> tasks(in, formula);
    tasks.total = total;
    tasks.out = out;
    detail::share_rows(name, exec, tasks.count(), in.rows, [&](std::int64_t begin, std::int64_t end) {
      from != nullptr ? tasks.write_share(begin, end, from) : tasks.run_share(begin, end);
    });
  } else {
    for_each_item(name, exec, in.rows.count(), in.rows.size(),
                  detail::pull_row<Formula, X, Gain>{in, formula, total, from, nullptr, out});
    fence_on_host(exec);
  }
}

}  // namespace ostraka::engine
