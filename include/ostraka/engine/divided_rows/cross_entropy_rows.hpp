// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. log Σ exp(x) − Σ q x of rows that mesh axes may divide, where q is the target's distribution over the
/// classes: 1 at the label, or 1 − ε there and ε / V everywhere. Each device adds its part of Σ q x to the statistics
/// that the devices exchange anyway, so that one message moves three numbers for each row.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/divided_rows/normalise_rows.hpp>

namespace ostraka::engine {

/// Largest element and sum of a row, and Σ q x: the labelled element, 0 in a part without it.
template <class T>
struct exp_sum_and_target {
  using number = T;

  T largest;
  T sum;
  T target;

  KOKKOS_INLINE_FUNCTION static exp_sum_and_target merge(exp_sum_and_target const& a, exp_sum_and_target const& b,
                                                         std::int64_t of_a, std::int64_t of_b) {
    exp_sum<T> const both = exp_sum<T>::merge({a.largest, a.sum}, {b.largest, b.sum}, of_a, of_b);
    return {both.largest, both.sum, a.target + b.target};
  }
};

/// The sum of the elements of a row, in double.
struct element_sum {
  using number = double;

  double sum = 0;

  KOKKOS_INLINE_FUNCTION static element_sum merge(element_sum const& a, element_sum const& b, std::int64_t,
                                                  std::int64_t) {
    return {a.sum + b.sum};
  }
  template <class T>
  static element_sum of_run(T const* x, std::int64_t n) {
    return {detail::sum_of_run<true, double>(n, [=](std::int64_t k) { return static_cast<double>(x[k]); })};
  }
  template <class T>
  static void of_panel(T const* x, std::int64_t n, std::int64_t step, std::int64_t width, element_sum* to) {
    double sum[widest_panel];
    for (std::int64_t i = 0; i < width; ++i) sum[i] = 0;
    for (std::int64_t k = 0; k < n; ++k)
      for_each_independent(width, [&](std::int64_t i) { sum[i] += static_cast<double>(x[k * step + i]); });
    for (std::int64_t i = 0; i < width; ++i) to[i] = {sum[i]};
  }
  template <class Element>
  KOKKOS_INLINE_FUNCTION static element_sum of_elements(std::int64_t n, Element const& x) {
    element_sum s;
    for (std::int64_t k = 0; k < n; ++k) s.sum += static_cast<double>(x(k));
    return s;
  }
};

/// Only the statistic of a formula, for measure_rows.
struct element_sum_formula {
  using statistic = element_sum;
};

/// The labels (whole numbers, one per row), the ignored label, and further parameters of the loss.
template <class Label>
struct labels_of_rows {
  Label const* label;
  row_places at;
  bool ignores;
  std::int64_t ignored;
  double smoothing = 0;  ///< ε: the share of the target that is spread over all classes
  double z_loss = 0;     ///< the factor of the added term (log Σ exp)²

  KOKKOS_INLINE_FUNCTION std::int64_t of(std::int64_t row, std::int64_t step) const {
    return static_cast<std::int64_t>(label[at.first(row / step, row % step)]);
  }
  KOKKOS_INLINE_FUNCTION bool is_ignored(std::int64_t l) const { return ignores && l == ignored; }
};

namespace detail {

template <class X, class Label>
struct take_target {
  using T = accumulator_of_t<X>;
  rows_of_block<X> in;
  labels_of_rows<Label> labels;
  std::int64_t begin;    // of this device's elements of a row
  std::int64_t classes;  // of a whole row
  exp_sum<T> const* rows;
  element_sum const* sums;  // null without smoothing
  exp_sum_and_target<T>* to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const label = labels.of(row, in.rows.step), k = label - begin;
    bool const here = !labels.is_ignored(label) && k >= 0 && k < in.rows.length;
    T const target = here ? in.element(row, k) : T(0);
    to[row] = {rows[row].largest, rows[row].sum, sums == nullptr ? target : smoothed(target, sums[row].sum)};
  }
  // Without a share, the label's element must have no effect: it may be −∞.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T smoothed(T target, double sum) const {
    double const of_label = labels.smoothing == 1 ? 0 : (1 - labels.smoothing) * static_cast<double>(target);
    return static_cast<T>(of_label + labels.smoothing * (sum / static_cast<double>(classes)));
  }
};

template <class X, class Label>
struct write_loss {
  using T = accumulator_of_t<X>;
  rows_of_block<X> in;
  labels_of_rows<Label> labels;
  exp_sum_and_target<T> const* rows;

  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t row) const {
    if (labels.is_ignored(labels.of(row, in.rows.step))) return T(0);
    exp_sum_and_target<T> const& r = rows[row];
    exp_sum<T> const all{r.largest, r.sum};
    T const loss = (all.shift() - r.target) + engine::log(all.sum);
    if (labels.z_loss == 0) return loss;
    T const l = all.log_of_all();
    return loss + static_cast<T>(labels.z_loss) * (l * l);
  }
};

template <class T>
struct write_log_sum {
  exp_sum_and_target<T> const* rows;

  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t row) const {
    return exp_sum<T>{rows[row].largest, rows[row].sum}.log_of_all();
  }
};

}  // namespace detail

/// loss <- log Σ exp(x) − Σ q x + z (log Σ exp(x))² for each row of this device's block of `s`, 0 if its label is
/// ignored. `labels` holds ε and z; a label is an index in the whole row, over all devices. `log_sum`: receives the
/// rows' log Σ exp(x), or null. Collective over the mesh axes that divide dimension `along`.
template <class Exec, class X, class Label>
void cross_entropy_rows(Exec const& exec, execution_context const& w, planner::spec const& s, int along,
                        rows_of_block<X> const& in, labels_of_rows<Label> const& labels, X* loss,
                        accumulator_of_t<X>* log_sum = nullptr) {
  using T = accumulator_of_t<X>;
  profiled const region_of_run(
      w, [&] { push_blocks(w.operation, s, w.names, "reads", in.rows.size() * static_cast<std::int64_t>(sizeof(X))); });
  std::int64_t const count = in.rows.count(), begin = planner::range_of(s, along, w.here, w.sizes).begin;
  kernel_scratch<exp_sum<T>, typename Exec::memory_space> const parts(count);
  kernel_scratch<exp_sum_and_target<T>, typename Exec::memory_space> const rows(count);
  bool const smooths = labels.smoothing != 0;
  kernel_scratch<element_sum, typename Exec::memory_space> const sums(smooths ? count : 0);
  measure_rows<softmax_formula<T>>("ostraka statistics of rows", exec, in, parts.data());
  if (smooths) measure_rows<element_sum_formula>("ostraka sums of rows", exec, in, sums.data());
  for_each_item("ostraka labelled elements", exec, count, count,
                detail::take_target<X, Label>{in, labels, begin, w.sizes.label[s.label[along]], parts.data(),
                                              smooths ? sums.data() : nullptr, rows.data()});
  combine_statistics(exec, w, s, along, rows.data(), count);
  finish_rows(exec, count, loss, detail::write_loss<X, Label>{in, labels, rows.data()});
  if (log_sum != nullptr) finish_rows(exec, count, log_sum, detail::write_log_sum<T>{rows.data()});
}

}  // namespace ostraka::engine
