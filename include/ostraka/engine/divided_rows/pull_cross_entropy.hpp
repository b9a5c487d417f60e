// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The derivative of the cross entropy of rows: g ((1 + 2 z l) exp(x − l) − q). Here l is the row's log Σ
/// exp(x), which the forward pass kept, g is the row's cotangent, and q is the target's distribution: ε / V, plus 1 − ε
/// at the label. So it needs no communication however rows are divided, and it reads the logits once.

#include <cstdint>

#include <ostraka/engine/divided_rows/cross_entropy_rows.hpp>

namespace ostraka::engine {

namespace detail {

/// For a row: the number subtracted from its elements, the factor of their exponentials, g (1 + 2 z l), and the number
/// subtracted from the results, g ε / V.
template <class T>
struct row_share {
  T shift, factor, less;

  // Without a factor the elements have no effect.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T of(T x) const {
    T const y = engine::exp(x - shift) * factor - less;
    return factor == T(0) ? T(0) - less : y;
  }
};

/// Values common to all rows: z, ε / V, and the target at the label.
template <class T>
struct target_shares {
  T z_loss, everywhere, at_label;
};

/// Rows with their labels, log Σ exp(x) and cotangents.
template <class X, class Label>
struct labelled_rows {
  using T = accumulator_of_t<X>;
  rows_of_block<X> in;
  labels_of_rows<Label> labels;
  std::int64_t begin;  // of this device's elements of a row
  T const* log_sum;
  X const* cotangent;
  X* out;
  target_shares<T> target;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION T slope_of(T l) const {
    return target.z_loss == T(0) || l == minus_infinity<T> ? T(1) : T(1) + T(2) * target.z_loss * l;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T cotangent_of(std::int64_t row) const {
    return labels.is_ignored(labels.of(row, in.rows.step)) ? T(0) : static_cast<T>(cotangent[row]);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION row_share<T> share_of(std::int64_t row) const {
    T const l = log_sum[row], g = cotangent_of(row);
    // A row with −∞ only has no shares.
    T const shift = l == minus_infinity<T> ? -minus_infinity<T> : l;
    return {shift, g == T(0) ? T(0) : g * slope_of(l), g * target.everywhere};
  }
  KOKKOS_INLINE_FUNCTION void write_label(std::int64_t row) const {
    std::int64_t const k = labels.of(row, in.rows.step) - begin;
    T const g = cotangent_of(row);
    if (k < 0 || k >= in.rows.length || g == T(0)) return;
    std::int64_t const at = in.rows.first(row) + k * in.rows.step;
    T const e = engine::exp(static_cast<T>(in.x[at]) - share_of(row).shift) * slope_of(log_sum[row]);
    out[at] = static_cast<X>((e - target.at_label) * g);
  }

  // Writes one row after the other.
  void write_rows(std::int64_t first, std::int64_t end) const {
    std::int64_t const n = in.rows.length;
    for (std::int64_t row = first; row < end; ++row) {
      row_share<T> const s = share_of(row);
      if (s.factor == T(0))
        for (std::int64_t k = 0; k < n; ++k) out[row * n + k] = static_cast<X>(T(0) - s.less);
      else
        write_run(out + row * n, in.x + row * n, n, s.shift, s.factor, s.less);
      write_label(row);
    }
  }
  static void write_run(X* to, X const* x, std::int64_t n, T shift, T factor, T less) {
    for (std::int64_t k = 0; k < n; ++k)
      to[k] = static_cast<X>(engine::exp(static_cast<T>(x[k]) - shift) * factor - less);
  }
  // Writes interleaved rows: a task is an index of their axis.
  void write_across(std::int64_t first, std::int64_t end, T const* shift, T const* factor, T const* less) const {
    std::int64_t const step = in.rows.step;
    for (std::int64_t t = first; t < end; ++t) {
      std::int64_t const row = t / in.rows.length * step;
      write_side_by_side(out + t * step, in.x + t * step, step, shift + row, factor + row, less + row);
    }
  }
  static void write_side_by_side(X* to, X const* x, std::int64_t n, T const* shift, T const* factor, T const* less) {
    for (std::int64_t i = 0; i < n; ++i) {
      row_share<T> const s{shift[i], factor[i], less[i]};
      to[i] = static_cast<X>(s.of(static_cast<T>(x[i])));
    }
  }
};

template <class X, class Label>
struct pull_labelled_row {
  labelled_rows<X, Label> rows;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    using T = accumulator_of_t<X>;
    auto const s = rows.share_of(row);
    std::int64_t const first = rows.in.rows.first(row), step = rows.in.rows.step;
    for (std::int64_t k = 0; k < rows.in.rows.length; ++k)
      rows.out[first + k * step] = static_cast<X>(s.of(static_cast<T>(rows.in.x[first + k * step])));
    rows.write_label(row);
  }
};

}  // namespace detail

/// out <- the cotangents of the elements of this device's block of `s`.
template <class Exec, class X, class Label>
void pull_cross_entropy(Exec const& exec, execution_context const& w, planner::spec const& s, int along,
                        rows_of_block<X> const& in, labels_of_rows<Label> const& labels,
                        accumulator_of_t<X> const* log_sum, X const* cotangent, X* out) {
  profiled const region_of_run(w, [&] {
    push_blocks(w.operation, s, w.names, "reads and writes", 2 * in.rows.size() * static_cast<std::int64_t>(sizeof(X)));
  });
  if (in.rows.size() == 0) return;
  using T = accumulator_of_t<X>;
  double const everywhere = labels.smoothing / static_cast<double>(w.sizes.label[s.label[along]]);
  detail::target_shares<T> const target{static_cast<T>(labels.z_loss), static_cast<T>(everywhere),
                                        static_cast<T>(1 - labels.smoothing + everywhere)};
  detail::labelled_rows<X, Label> const rows{
      in, labels, planner::range_of(s, along, w.here, w.sizes).begin, log_sum, cotangent, out, target};
  char const* const name = "ostraka cotangents of logits";
  if constexpr (runs_on_host<Exec>) {
    if (in.rows.step == 1)
      return detail::share_rows(name, exec, in.rows.outer, in.rows,
                                [&](std::int64_t begin, std::int64_t end) { rows.write_rows(begin, end); });
    std::int64_t const count = in.rows.count();
    kernel_scratch<T, Kokkos::HostSpace> const shifts(count), factors(count), less(count);
    fence_on_host(exec);
    for (std::int64_t row = 0; row < count; ++row) {
      auto const share = rows.share_of(row);
      shifts.data()[row] = share.shift;
      factors.data()[row] = share.factor;
      less.data()[row] = share.less;
    }
    detail::share_rows(name, exec, in.rows.outer * in.rows.length, in.rows, [&](std::int64_t begin, std::int64_t end) {
      rows.write_across(begin, end, shifts.data(), factors.data(), less.data());
    });
    for (std::int64_t row = 0; row < count; ++row) rows.write_label(row);
  } else {
    for_each_item(name, exec, in.rows.count(), in.rows.size(), detail::pull_labelled_row<X, Label>{rows});
    fence_on_host(exec);
  }
}

}  // namespace ostraka::engine
