// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Scores of attention: applies a cap, a bias and ALiBi's distances to the products of queries and keys, and
/// hides pairs by position and by document, all by global indices. It serves both rows of whole scores and the products
/// of rings.
///
///     s = c · tanh(s / c) + bias − slope · |query − key|,  or −∞ if the query does not see the key

#include <cstdint>

#include <ostraka/engine/blocks/aligned.hpp>
#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/rows/row_tasks.hpp>
#include <ostraka/engine/sequences/mask_later_keys.hpp>
#include <ostraka/plan/attention/seen_positions.hpp>

namespace ostraka::engine {

/// The rule of an attention's scores. Its tensors are aligned with this device's block of the scores; null: not given.
template <class T>
struct score_rule {
  planner::seen_positions seen{};
  std::int64_t from = 0;     ///< the position of the query with index 0
  std::int64_t stripes = 0;  ///< the number of devices over which both sequences are striped, or 0
  T soft_cap = 0;            ///< 0: none
  aligned<T const> bias{}, slopes{};
  aligned<std::int64_t const> query_segments{}, key_segments{};  ///< a query sees keys of its own segment
  aligned<std::int64_t const> positions{};  ///< added to the positions of a row's queries
  aligned<T const> sinks{};  ///< for each row, the score of a key without a value; the softmax reads it

  /// True if the rule may hide pairs by other criteria than positions. A bias may be −∞.
  [[nodiscard]] bool hides_beyond_positions() const { return query_segments.data != nullptr || bias.data != nullptr; }
};

/// No rule: scores are the products of queries and keys, and only the causal mask may hide keys.
struct plain_scores {};

/// The scores of some queries and keys of a block, dense, with the keys last.
struct score_box {
  int rank = 0, queries = 0;
  std::int64_t extent[max_rank]{}, begin[max_rank]{};  ///< begin: index of the first score in the block
  std::int64_t first_query = 0, first_key = 0;         ///< their global indices
  std::int64_t all_queries = 0, all_keys = 0;          ///< in the whole sequences

  [[nodiscard]] std::int64_t keys() const { return extent[rank - 1]; }
  [[nodiscard]] std::int64_t rows() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank - 1; ++d) n *= extent[d];
    return n;
  }
};

namespace detail {

/// One row of the scores.
template <class T>
struct score_row {
  score_rule<T> rule;
  score_box box;
  T* scores;
  position_at of_query, of_key;
  std::int64_t before, after, first, prefix_after;
  std::int64_t row_step;  ///< elements between rows

  score_row(score_rule<T> const& r, score_box const& b, T* s)
      : rule(r),
        box(b),
        scores(s),
        of_query(planner::stripes{b.all_queries, r.stripes > 1 ? r.stripes : 0}),
        of_key(planner::stripes{b.all_keys, r.stripes > 1 ? r.stripes : 0}),
        before(r.seen.before()),
        after(r.seen.after()),
        first(r.seen.first),
        prefix_after(r.seen.prefix_after()),
        row_step(b.keys()) {}

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    int const last = box.rank - 1;
    std::int64_t rest = row, query = box.first_query, at_bias = box.begin[last] * rule.bias.stride[last], at_slope = 0,
                 at_query = 0, at_key = box.begin[last] * rule.key_segments.stride[last], at_position = 0;
    for (int d = last - 1; d >= 0; --d) {
      std::int64_t const i = rest % box.extent[d], j = box.begin[d] + i;
      rest /= box.extent[d];
      if (d == box.queries) query += i;
      at_bias += j * rule.bias.stride[d];
      at_slope += j * rule.slopes.stride[d];
      at_query += j * rule.query_segments.stride[d];
      at_key += j * rule.key_segments.stride[d];
      at_position += j * rule.positions.stride[d];
    }
    std::int64_t const first_of_row = rule.positions.data != nullptr ? rule.positions.data[at_position] : 0;
    std::int64_t const n = box.extent[last], position = of_query(query) + rule.from + first_of_row;
    T* const s = scores + row * row_step;
    // The positions of keys are consecutive within a chunk of stripes, so the visible ones are a prefix and a range.
    for (std::int64_t key = 0; key < n;) {
      std::int64_t const index = box.first_key + key, left = of_key.chunk - index % of_key.chunk;
      std::int64_t const end = left < n - key ? key + left : n, shift = key - of_key(index);
      std::int64_t const prefix = position + prefix_after < first ? position + prefix_after + 1 : first;
      std::int64_t const a = within(position - before + shift, key, end),
                         b = within(position + after + 1 + shift, a, end);
      std::int64_t const p = within(prefix + shift, key, end), behind = p < b ? b : p;
      if (p < a) {
        score(s, key, p, at_bias, at_slope, position + shift);
        hide(s, p, a);
        score(s, a, b, at_bias, at_slope, position + shift);
      } else {
        score(s, key, behind, at_bias, at_slope, position + shift);
      }
      hide(s, behind, end);
      key = end;
    }
    if (rule.query_segments.data != nullptr) {
      std::int64_t const own = rule.query_segments.data[at_query], step = rule.key_segments.stride[last];
      std::int64_t const* const of_keys = rule.key_segments.data + at_key;
      for_each_independent(n, [=](std::int64_t k) { s[k] = of_keys[k * step] == own ? s[k] : hidden(); });
    }
  }
  void on_host(std::int64_t row) const { (*this)(row); }

 private:
  static KOKKOS_INLINE_FUNCTION T hidden() { return minus_infinity<T>; }
  static KOKKOS_INLINE_FUNCTION std::int64_t within(std::int64_t i, std::int64_t low, std::int64_t high) {
    return i < low ? low : i < high ? i : high;
  }
  static KOKKOS_INLINE_FUNCTION void hide(T* s, std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) s[k] = hidden();
  }

  // `level`: the index in this row of the key at the query's position, which may be beyond the row.
  KOKKOS_INLINE_FUNCTION void score(T* s, std::int64_t begin, std::int64_t end, std::int64_t at_bias,
                                    std::int64_t at_slope, std::int64_t level) const {
    std::int64_t const n = end - begin;
    T* const t = s + begin;
    if (n <= 0) return;
    if (rule.soft_cap > T(0))
      for_each_independent(n, [t, c = rule.soft_cap](std::int64_t k) { t[k] = c * engine::tanh(t[k] / c); });
    if (rule.bias.data != nullptr) {
      std::int64_t const step = rule.bias.stride[box.rank - 1];
      T const* const bias = rule.bias.data + at_bias + begin * step;
      for_each_independent(n, [=](std::int64_t k) { t[k] += bias[k * step]; });
    }
    if (rule.slopes.data != nullptr) {
      T const slope = rule.slopes.data[at_slope];
      std::int64_t const to = level - begin;
      for_each_independent(n, [=](std::int64_t k) { t[k] -= slope * static_cast<T>(k < to ? to - k : k - to); });
    }
  }
};

}  // namespace detail

/// Turns products of queries and keys into scores.
template <class Exec, class T>
void score_box_of_pairs(Exec const& exec, score_rule<T> const& rule, score_box const& box, T* scores) {
  std::int64_t const rows = box.rows(), keys = box.keys();
  if (rows * keys == 0) return;
  detail::score_row<T> const row(rule, box, scores);
  if constexpr (runs_on_host<Exec>)
    detail::share_rows("ostraka scores", exec, rows, {rows, keys, 1}, [&row](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) row.on_host(r);
    });
  else
    for_each_item("ostraka scores", exec, rows, rows * keys, row);
}

/// The same for this device's block of `s`, dense, with keys along its last dimension and queries along `queries`. On
/// the host, it returns when all scores are written.
template <class Exec, class T>
void score_pairs(Exec const& exec, execution_context const& w, planner::spec const& s, int queries,
                 score_rule<T> const& rule, T* scores) {
  profiled const region_of_run(w, [&] {
    push_blocks(w.operation, s, w.names, "reads and writes",
                2 * planner::block_size(s, w.here, w.sizes) * static_cast<std::int64_t>(sizeof(T)));
  });
  if (w.here.nowhere) return;
  score_box box;
  box.rank = s.rank;
  box.queries = queries;
  for (int d = 0; d < s.rank; ++d) box.extent[d] = planner::range_of(s, d, w.here, w.sizes).size();
  box.first_query = planner::range_of(s, queries, w.here, w.sizes).begin;
  box.first_key = planner::range_of(s, s.rank - 1, w.here, w.sizes).begin;
  box.all_queries = w.sizes.label[s.label[queries]];
  box.all_keys = w.sizes.label[s.label[s.rank - 1]];
  score_box_of_pairs(exec, rule, box, scores);
  fence_on_host(exec);
}

}  // namespace ostraka::engine
