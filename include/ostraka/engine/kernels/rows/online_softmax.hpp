// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Softmax of scores that come in parts (Milakov, Gimelshein, 2018). For each query it keeps the largest score
/// so far, m, the sum s of exp(score − m), and the sum o of exp(score − m) · value. If a further part of the scores
/// makes m larger, s and o are rescaled by exp(m before − m). At the end o / s is the result; the backward pass
/// recomputes the weights from m + log s.

#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/rows/row_tasks.hpp>

namespace ostraka::engine {

/// Scores of some queries of a block and some keys, dense with the keys last: [outer, queries, inner, keys]. If they
/// are masked, each query sees one key more than the previous query.
struct score_rows {
  std::int64_t outer = 1, queries = 1, inner = 1, keys = 1;
  std::int64_t first_query = 0, of_block = 1;  ///< index of the first query in the block; number of the block's queries
  std::int64_t seen = 0;                       ///< keys that the first query sees; may be negative, or more than all
  bool is_masked = false;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t count() const { return outer * queries * inner; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t size() const { return count() * keys; }
  /// Returns the number of a row in the block.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t in_block(std::int64_t row) const {
    std::int64_t const group = queries * inner;
    return (row / group * of_block + first_query) * inner + row % group;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t visible_keys(std::int64_t row) const {
    if (!is_masked) return keys;
    std::int64_t const n = seen + row / inner % queries;
    return n < 0 ? 0 : n < keys ? n : keys;
  }
};

/// The state of the softmax of a block's rows so far.
template <class T>
struct running_softmax {
  T* largest;
  T* sum;
  T* weighted;  ///< [rows, width]
  std::int64_t width;
};

namespace detail {

template <class T>
struct weigh_row {
  score_rows rows;
  T* scores;
  running_softmax<T> so_far;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    T* const s = scores + row * rows.keys;
    std::int64_t const n = rows.visible_keys(row);
    T highest = minus_infinity<T>, sum = 0;
    for (std::int64_t k = 0; k < n; ++k) highest = highest < s[k] ? s[k] : highest;
    T const shift = raised(row, n, highest);
    for (std::int64_t k = 0; k < n; ++k) sum += s[k] = engine::exp(s[k] - shift);
    end(row, n, sum);
  }

  /// The same with vector instructions.
  void on_host(std::int64_t row) const {
    T* const s = scores + row * rows.keys;
    std::int64_t const n = rows.visible_keys(row);
    T const shift = raised(row, n, largest_of_run(s, n));
    for_each_independent(n, [=](std::int64_t k) { s[k] = engine::exp(s[k] - shift); });
    end(row, n, sum_of_run<true, T>(n, [=](std::int64_t k) { return s[k]; }));
  }

 private:
  // Rescales the sums so that they are relative to the larger of the two maxima.
  KOKKOS_INLINE_FUNCTION T raised(std::int64_t row, std::int64_t n, T highest) const {
    std::int64_t const b = rows.in_block(row);
    T const before = so_far.largest[b];
    if (n == 0 || !(before < highest)) return shift_of(before);
    T const shift = shift_of(highest), factor = engine::exp(before - shift);
    so_far.largest[b] = highest;
    so_far.sum[b] *= factor;
    for_each_independent(so_far.width, [&](std::int64_t e) { so_far.weighted[b * so_far.width + e] *= factor; });
    return shift;
  }
  KOKKOS_INLINE_FUNCTION void end(std::int64_t row, std::int64_t n, T sum) const {
    so_far.sum[rows.in_block(row)] += sum;
    for (std::int64_t k = n; k < rows.keys; ++k) scores[row * rows.keys + k] = T(0);
  }
};

template <class T>
struct finish_weighing {
  running_softmax<T> so_far;
  T* log_sums;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    T const sum = so_far.sum[row], part = sum == T(0) ? T(0) : T(1) / sum;
    for_each_independent(so_far.width, [&](std::int64_t e) { so_far.weighted[row * so_far.width + e] *= part; });
    log_sums[row] = sum == T(0) ? -minus_infinity<T> : shift_of(so_far.largest[row]) + engine::log(sum);
  }
};

template <class T>
struct pull_weighed_row {
  score_rows rows;
  T* scores;      // become the weights
  T* cotangents;  // cotangents of the weights; become those of the products
  T const* log_sums;
  T const* result_sums;
  T factor;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    T* const s = scores + row * rows.keys;
    T* const g = cotangents + row * rows.keys;
    std::int64_t const n = rows.visible_keys(row), b = rows.in_block(row);
    T const log_sum = log_sums[b], result = result_sums[b];
    for_each_independent(n, [=](std::int64_t k) { s[k] = engine::exp(s[k] - log_sum); });
    for_each_independent(n, [=, f = factor](std::int64_t k) { g[k] = f * (s[k] * (g[k] - result)); });
    for (std::int64_t k = n; k < rows.keys; ++k) s[k] = g[k] = T(0);
  }
  void on_host(std::int64_t row) const { (*this)(row); }
};

template <class T>
struct sum_of_results {
  T const* a;
  T const* b;
  std::int64_t width;
  T* sums;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    T sum = 0;
    for (std::int64_t e = 0; e < width; ++e) sum += a[row * width + e] * b[row * width + e];
    sums[row] = sum;
  }
};

template <class Exec, class Row>
void for_each_score_row(char const* name, Exec const& exec, score_rows const& rows, Row const& row) {
  if (rows.count() == 0) return;
  if constexpr (runs_on_host<Exec>)
    share_rows(name, exec, rows.count(), {rows.count(), rows.keys, 1}, [&row](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) row.on_host(r);
    });
  else
    for_each_item(name, exec, rows.count(), rows.size(), row);
}

}  // namespace detail

/// Turns scores into weights relative to the largest so far, or 0 where they are hidden, updates the sums, and rescales
/// the weighted values so far. The caller adds the values of these keys.
template <class Exec, class T>
void weigh_scores(Exec const& exec, score_rows const& rows, T* scores, running_softmax<T> const& so_far) {
  detail::for_each_score_row("ostraka online softmax", exec, rows, detail::weigh_row<T>{rows, scores, so_far});
}

/// Divides the weighted values of all rows by their sums; log_sums <- m + log s. A row that sees no key becomes zeros,
/// and its log_sum +∞, so that all its weights are 0.
template <class Exec, class T>
void finish_weighing(Exec const& exec, std::int64_t rows, running_softmax<T> const& so_far, T* log_sums) {
  for_each_item("ostraka finish online softmax", exec, rows, rows * so_far.width,
                detail::finish_weighing<T>{so_far, log_sums});
}

/// scores <- weights = exp(score − log_sum); cotangents of the weights <- those of the products of queries and keys,
/// factor · weight · (cotangent − result_sum). result_sum: the sum over a row of the result times its cotangent.
template <class Exec, class T>
void pull_weighed_scores(Exec const& exec, score_rows const& rows, T* scores, T* cotangents, T const* log_sums,
                         T const* result_sums, T factor) {
  detail::for_each_score_row("ostraka pull online softmax", exec, rows,
                             detail::pull_weighed_row<T>{rows, scores, cotangents, log_sums, result_sums, factor});
}

/// sums[row] <- Σ a b over a row of both.
template <class Exec, class T>
void sum_products_of_rows(Exec const& exec, std::int64_t rows, std::int64_t width, T const* a, T const* b, T* sums) {
  for_each_item("ostraka sums of products", exec, rows, rows * width, detail::sum_of_results<T>{a, b, width, sums});
}

}  // namespace ostraka::engine
