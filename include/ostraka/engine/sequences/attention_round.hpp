// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. One round of an attention ring, for attention and its derivative: while a device multiplies its queries
/// with the current keys, the next keys arrive. Scores exist only for the current part.
///
///     for each part:  S = scale · Q K, by the rule of the scores if there is one,  then the caller's work with S, Q, K
///                     and V

#include <cstdint>

#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/engine/sequences/ring_blocks.hpp>
#include <ostraka/engine/sequences/score_pairs.hpp>

namespace ostraka::engine::detail {

/// Chunks with computed scores. `part`: the range of their keys within the current piece.
template <class T>
struct scored_chunks {
  planner::range part{};
  labelled_block<T const> queries, keys, values;
  labelled_block<T> scores;
};

/// One round of the ring. Collective over the mesh axes that divide the keys. `Rule`: plain_scores, or a score_rule
/// aligned with this device's queries and all keys. @pre this process has a block
template <class Exec, class T, class Rule>
class attention_round {
 public:
  using wide = accumulator_of_t<T>;
  static constexpr bool is_plain = std::is_same_v<Rule, plain_scores>;

  attention_round(Exec const& exec, execution_context const& w, ring_attention const& p, Rule const& rule, T const* q,
                  T const* k, T const* v)
      : exec_(exec),
        rule_(rule),
        scale_(static_cast<wide>(p.scale)),
        region_of_run_([&] {
          push_blocks(w.operation, p.q, w.names, "reads", planner::block_size(p.q, w.here, w.sizes) * int{sizeof(T)});
        }),
        blocks_(w, p),
        travelling_(exec, w, p, blocks_, k, v),
        scores_(most_scores()),
        queries_(exec, {blocks_.q, q}) {}

  [[nodiscard]] attended_blocks const& blocks() const { return blocks_; }
  [[nodiscard]] rotating_keys<Exec, T>& travelling() { return travelling_; }
  [[nodiscard]] planner::attention_ring const& ring() const { return travelling_.ring(); }

  /// Returns the number of scores of the largest product.
  [[nodiscard]] std::int64_t most_scores() const {
    std::int64_t most = 0;
    for (int piece = 0; piece < ring().pieces(); ++piece)
      for (std::int64_t home = 0; home < ring().devices; ++home)
        if constexpr (is_plain)
          most = larger(most, ring().piece(home, piece).size() * blocks_.of_queries);
        else
          ring().for_each_product(travelling_.here(), home, piece, [&](planner::ring_product const& m) {
            most = larger(most, m.queries.size() * m.keys.size());
          });
    return most * blocks_.outer * blocks_.inner;
  }

  /// Returns the rows of a product, unmasked if a rule hides the keys that the plain mask would hide.
  [[nodiscard]] score_rows rows_of(planner::ring_product const& m) const {
    score_rows rows = blocks_.rows_of(m);
    if constexpr (!is_plain) rows.is_masked = false;
    return rows;
  }
  /// True if some pairs of a product may be hidden.
  [[nodiscard]] bool hides(planner::ring_product const& m) const {
    if constexpr (!is_plain)
      if (rule_.hides_beyond_positions()) return true;
    return m.is_masked;
  }
  /// Returns the global indices of the scores of a product. @pre there is a rule
  [[nodiscard]] score_box box_of(planner::ring_product const& m, std::int64_t home) const {
    labelled const lies = blocks_.scores_of(m);
    score_box box;
    box.rank = lies.rank;
    box.queries = lies.find(blocks_.queries);
    for (int d = 0; d < lies.rank; ++d) box.extent[d] = lies.extent[d];
    box.all_queries = ring().queries;
    box.all_keys = ring().keys;
    box.first_query = planner::block(ring().queries, travelling_.here(), ring().devices).begin + m.queries.begin;
    box.first_key = planner::block(ring().keys, home, ring().devices).begin + m.keys.begin;
    box.begin[box.queries] = m.queries.begin;
    box.begin[box.rank - 1] = box.first_key;
    return box;
  }

  /// Also stores the products of each part in `products`, before the rule changes them.
  void keep_products(wide* products) { products_ = products; }

  /// Calls f(piece, step, whether this device's queries need it) for each piece when it has arrived.
  template <class F>
  void for_each_piece(F const& f) {
    for (std::int64_t step = 0; step < ring().devices; ++step) {
      if (step + 1 < ring().devices) travelling_.begin(step);
      for (int piece = 0; piece < ring().pieces(); ++piece)
        f(piece, step, ring().needs(travelling_.here(), travelling_.home(piece, step), piece));
      travelling_.end();
    }
  }

  /// Calls f(product, scored_chunks) for each product of this device's queries with a piece that has arrived.
  template <class F>
  void for_each_product(int piece, std::int64_t step, F const& f) {
    std::int64_t const home = travelling_.home(piece, step), first = ring().piece(home, piece).begin;
    wide_block<Exec, T> const keys(exec_, travelling_.keys(piece, step)),
        values(exec_, travelling_.values(piece, step));
    ring().template for_each_product<!is_plain>(travelling_.here(), home, piece, [&](planner::ring_product const& m) {
      attended_chunks += m.chunks;
      planner::range const part{m.keys.begin - first, m.keys.end - first};
      scored_chunks<wide> const c{part,
                                  queries_.block.part(blocks_.queries, m.queries),
                                  keys.block.part(blocks_.keys, part),
                                  values.block.part(blocks_.keys, part),
                                  {blocks_.scores_of(m), scores_.data()}};
      multiply(exec_, c.queries, c.keys, c.scores, scale_, wide(0));
      if constexpr (!is_plain) {
        if (products_ != nullptr) convert(exec_, labelled_block<wide>{c.scores, products_}, readable(c.scores));
        score_box_of_pairs(exec_, rule_, box_of(m, home), c.scores.data);
      }
      f(m, c);
    });
  }

 private:
  static std::int64_t larger(std::int64_t a, std::int64_t b) { return a < b ? b : a; }

  Exec const& exec_;
  Rule const& rule_;
  wide* products_ = nullptr;
  wide scale_;
  profiled region_of_run_;
  attended_blocks blocks_;
  rotating_keys<Exec, T> travelling_;
  kernel_scratch<wide, typename Exec::memory_space> scores_;
  wide_block<Exec, T> queries_;
};

}  // namespace ostraka::engine::detail
