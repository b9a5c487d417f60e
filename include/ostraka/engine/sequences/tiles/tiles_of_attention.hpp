// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The tiles of an attention whose keys are whole, on the host: some queries and some keys of one head at a
/// time (plan/attention/attention_tiles.hpp). Their scores stay in a core's cache, and no array has the scores' shape.
/// A task computes the heads that share keys or values.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/loops/narrow_runs.hpp>
#include <ostraka/engine/kernels/tiles/tile_products.hpp>
#include <ostraka/engine/sequences/ring_blocks.hpp>
#include <ostraka/engine/sequences/score_pairs.hpp>
#include <ostraka/plan/attention/attention_tiles.hpp>

namespace ostraka::engine::detail {

inline constexpr std::int64_t tile_queries = planner::tile_extents{}.queries, tile_keys = planner::tile_extents{}.keys;

/// The position of a head: the offsets of its first elements, and its index along the labels of the scores.
struct head_place {
  std::int64_t q = 0, k = 0, v = 0, out = 0, row = 0;
  std::int64_t index[max_rank]{};
};

/// The strides of all blocks of an attention.
class attention_layout {
 public:
  template <class T>
  attention_layout(attended_blocks const& b, ring_attention const& p, micro_kernel<T> const& micro)
      : rank(b.scores.rank), query_dimension(rank) {
    labelled rows = b.scores.without(b.keys);
    rows.close_gaps();
    queries = b.of_queries;
    keys = b.k.extent_of(b.keys);
    width = b.q.extent_of(p.width);
    q_step = {b.q.stride_of(b.queries), b.q.stride_of(p.width)};
    k_step = {b.k.stride_of(b.keys), b.k.stride_of(p.width)};
    v_step = b.v.stride_of(b.keys);
    out_step = b.out.stride_of(b.queries);
    row_step = rows.stride_of(b.queries);
    tile_rows = std::min(tile_queries, round_up(queries, micro.rows));
    tile_step = std::min(tile_keys, round_up(keys, micro.columns()));
    for (int d = 0; d < b.v.rank; ++d)
      if (int const l = b.v.label[d]; !b.scores.has(l)) values.add(b.v.extent[d], b.v.stride[d], b.out.stride_of(l));
    values.merge();
    value_width = values.size();
    for (int const pass : {0, 1, 2})  // labels of both keys and values first, labels of neither last
      for (int d = 0; d < rank - 1; ++d) {
        int const l = b.scores.label[d];
        if (l == b.queries) {
          query_dimension = d;
          continue;
        }
        if (pass != 2 - int{b.k.has(l)} - int{b.v.has(l)}) continue;
        loop_nest<5>& loops = pass == 0 ? shared : within;
        int* const dimension = pass == 0 ? dimension_of_shared : dimension_of_within;
        if (b.scores.extent[d] != 1) dimension[loops.rank] = d;
        loops.add(b.scores.extent[d], b.q.stride_of(l), b.k.stride_of(l), b.v.stride_of(l), b.out.stride_of(l),
                  rows.stride_of(l));
      }
  }

  /// Returns the number of groups of heads with separate keys and values.
  [[nodiscard]] std::int64_t groups() const { return shared.size(); }

  /// True if no two groups share an element of a tensor that is aligned with the scores.
  template <class T>
  [[nodiscard]] bool are_apart(aligned<T> const& met) const {
    for (int d = 0; d < shared.rank; ++d)
      if (met.stride[dimension_of_shared[d]] == 0) return false;
    return true;
  }

  /// Calls f(place) for each head of a group. Heads with the same keys, or the same values, are consecutive.
  template <class F>
  void for_each_head(std::int64_t group, F const& f) const {
    std::int64_t const n = within.size();
    if (n == 0) return;
    loop_walker<5> const own(shared, group);
    loop_walker<5> more(within, 0);
    for (std::int64_t i = 0; i < n; ++i, more.next()) {
      head_place at{own.offset[0] + more.offset[0], own.offset[1] + more.offset[1], own.offset[2] + more.offset[2],
                    own.offset[3] + more.offset[3], own.offset[4] + more.offset[4]};
      for (int d = 0; d < shared.rank; ++d) at.index[dimension_of_shared[d]] = own.index[d];
      for (int d = 0; d < within.rank; ++d) at.index[dimension_of_within[d]] = more.index[d];
      f(at);
    }
  }

  struct steps {
    std::int64_t row = 0, column = 0;
  };
  int rank, query_dimension;
  std::int64_t queries = 0, keys = 0, width = 0, value_width = 1;
  std::int64_t tile_rows = 0, tile_step = 0;  ///< queries of a tile with their padding; elements between rows of scores
  steps q_step, k_step;
  std::int64_t v_step = 0, out_step = 0, row_step = 0;
  loop_nest<2> values;          ///< the values' own axes: {values, result}
  loop_nest<5> shared, within;  ///< {q, k, v, out, row}: labels of both keys and values; all others

 private:
  int dimension_of_shared[max_loops]{}, dimension_of_within[max_loops]{};
};

/// to[i, j] <- factor · from[i row + j column], in the type of the computation. A row of `to` is dense.
template <class Wide, class T>
void load_rows(T const* from, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns, Wide* to,
               Wide factor) {
  for (std::int64_t i = 0; i < rows; ++i, from += row, to += columns) {
    if (column == 1)
      widen_run(from, to, columns);
    else
      for (std::int64_t j = 0; j < columns; ++j) to[j] = static_cast<Wide>(from[j * column]);
    if (factor != Wide(1)) for_each_independent(columns, [to, factor](std::int64_t j) { to[j] *= factor; });
  }
}

/// The same for rows that run along several axes: operand O of the loops `along`.
template <int O, class Wide, class T>
void load_rows(T const* from, std::int64_t row, loop_nest<2> const& along, std::int64_t rows, Wide* to) {
  int const inner = along.rank - 1;
  std::int64_t const run = inner < 0 ? 1 : along.extent[inner], step = inner < 0 ? 1 : along.stride[O][inner],
                     columns = along.size();
  for (std::int64_t i = 0; i < rows && columns > 0; ++i, from += row) {
    loop_walker<2> at(along, 0);
    for (std::int64_t j = 0; j < columns; j += run, at.skip(run), to += run)
      load_rows(from + at.offset[O], 0, step, 1, run, to, Wide(1));
  }
}

/// to[i row + along] <- factor of row i · from[i, j].
template <int O, class Wide, class T, class Factor>
void store_rows(Wide const* from, std::int64_t step, std::int64_t rows, T* to, std::int64_t row,
                loop_nest<2> const& along, Factor const& factor) {
  int const inner = along.rank - 1;
  std::int64_t const run = inner < 0 ? 1 : along.extent[inner], apart = inner < 0 ? 1 : along.stride[O][inner],
                     columns = along.size();
  for (std::int64_t i = 0; i < rows && columns > 0; ++i, from += step, to += row) {
    Wide const f = factor(i);
    loop_walker<2> at(along, 0);
    for (std::int64_t j = 0; j < columns; j += run, at.skip(run)) {
      Wide const* const x = from + j;
      T* const t = to + at.offset[O];
      if (apart == 1)
        write_elements<Wide>(t, run, [x, f](std::int64_t e) { return f * x[e]; });
      else
        for (std::int64_t e = 0; e < run; ++e) t[e * apart] = static_cast<T>(f * x[e]);
    }
  }
}

/// The rule of scores in a tile.
template <class T>
class tile_scores {
 public:
  tile_scores(ring_attention const& p, attention_layout const& lies, score_rule<T> const& rule)
      : rule_(rule),
        seen_(p.ring.seen()),
        first_(p.ring.first_position),
        changes_(rule.soft_cap > T(0) || rule.bias.data != nullptr || rule.slopes.data != nullptr ||
                 rule.query_segments.data != nullptr) {
    box_.rank = lies.rank;
    box_.queries = lies.query_dimension;
    box_.all_queries = lies.queries;
    box_.all_keys = lies.keys;
    for (int d = 0; d < lies.rank; ++d) box_.extent[d] = 1;
  }

  [[nodiscard]] planner::range positions(planner::range queries) const {
    return {queries.begin + first_, queries.end + first_};
  }
  [[nodiscard]] planner::seen_positions const& seen() const { return seen_; }
  /// True if a rule must turn the products into scores, or if a window hides some keys.
  [[nodiscard]] bool is_ruled(bool is_masked) const { return changes_ || (is_masked && seen_.has_window()); }
  /// True if a product may have hidden pairs.
  [[nodiscard]] bool hides(bool is_masked) const { return is_masked || rule_.hides_beyond_positions(); }
  /// Returns the number of the product's first keys that a query sees. @pre no rule hides any of them
  [[nodiscard]] std::int64_t visible_keys(std::int64_t query, planner::keys_of_tile const& k) const {
    std::int64_t const n = k.where.size();
    if (!k.is_masked) return n;
    std::int64_t const end = query + first_ + 1 - k.where.begin;
    return end < 0 ? 0 : end < n ? end : n;
  }
  /// Returns the indices of the scores of some queries of a head and some keys.
  [[nodiscard]] score_box box(head_place const& at, planner::range queries, planner::keys_of_tile const& k) const {
    score_box b = box_;
    for (int d = 0; d < b.rank; ++d) b.begin[d] = at.index[d];
    b.extent[b.queries] = queries.size();
    b.begin[b.queries] = b.first_query = queries.begin;
    b.extent[b.rank - 1] = k.where.size();
    b.begin[b.rank - 1] = b.first_key = k.where.begin;
    return b;
  }
  /// Turns products into scores; rows are `step` elements apart.
  void score(score_box const& box, T* products, std::int64_t step) const {
    score_row<T> row(rule_, box, products);
    row.row_step = step;
    std::int64_t const rows = box.rows();
    for (std::int64_t r = 0; r < rows; ++r) row(r);
  }

  [[nodiscard]] score_rule<T> const& rule() const { return rule_; }

 private:
  score_rule<T> const& rule_;
  planner::seen_positions seen_;
  std::int64_t first_;
  bool changes_;
  score_box box_;
};

/// Divides one buffer into pieces. Without a buffer, it only counts their elements.
template <class T>
class scratch_pieces {
 public:
  explicit scratch_pieces(T* buffer) : buffer_(buffer) {}
  T* take(std::int64_t n) {
    T* const piece = buffer_ == nullptr ? nullptr : buffer_ + taken_;
    taken_ += round_up(n, elements_of_line<T>);
    return piece;
  }
  [[nodiscard]] std::int64_t taken() const { return taken_; }

 private:
  T* buffer_;
  std::int64_t taken_ = 0;
};

}  // namespace ostraka::engine::detail
