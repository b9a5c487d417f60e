// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. log Σ exp(x) − x[label] of rows that mesh axes may divide. The device that holds a row's labelled element
/// adds it to the statistics that the devices exchange anyway, so that three numbers a row move, in one message.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/divided_rows/normalise_rows.hpp>

namespace ostraka::engine {

/// Largest element and sum of a row, and its labelled element, 0 in a part that does not have it.
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

/// The labels, whole numbers that belong to rows, and the one label that is ignored.
template <class Label>
struct labels_of_rows {
  Label const* label;
  row_places at;
  bool ignores;
  std::int64_t ignored;

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
  std::int64_t begin;  // of this device's elements of a row
  exp_sum<T> const* rows;
  exp_sum_and_target<T>* to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const label = labels.of(row, in.rows.step), k = label - begin;
    bool const here = !labels.is_ignored(label) && k >= 0 && k < in.rows.length;
    to[row] = {rows[row].largest, rows[row].sum, here ? in.element(row, k) : T(0)};
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
    return (all.shift() - r.target) + engine::log(all.sum);
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

/// loss <- of each row of this device's block of `s`, 0 if its label is ignored. Labels are among the elements of a
/// row, counted over all devices. `log_sum`: the place for the rows' log Σ exp(x), or null. Collective over the mesh
/// axes that divide dimension `along`.
template <class Exec, class X, class Label>
void cross_entropy_rows(Exec const& exec, execution_context const& w, planner::spec const& s, int along,
                        rows_of_block<X> const& in, labels_of_rows<Label> const& labels, X* loss,
                        accumulator_of_t<X>* log_sum = nullptr) {
  using T = accumulator_of_t<X>;
  profiled const region_of_run(
      [&] { push_blocks(w.operation, s, w.names, "reads", in.rows.size() * static_cast<std::int64_t>(sizeof(X))); });
  std::int64_t const count = in.rows.count(), begin = planner::range_of(s, along, w.here, w.sizes).begin;
  kernel_scratch<exp_sum<T>, typename Exec::memory_space> const parts(count);
  kernel_scratch<exp_sum_and_target<T>, typename Exec::memory_space> const rows(count);
  measure_rows<softmax_formula<T>>("ostraka statistics of rows", exec, in, parts.data());
  for_each_item("ostraka labelled elements", exec, count, count,
                detail::take_target<X, Label>{in, labels, begin, parts.data(), rows.data()});
  exec.fence();
  combine_statistics(exec, w, s, along, rows.data(), count);
  finish_rows(exec, count, loss, detail::write_loss<X, Label>{in, labels, rows.data()});
  if (log_sum != nullptr) finish_rows(exec, count, log_sum, detail::write_log_sum<T>{rows.data()});
}

}  // namespace ostraka::engine
