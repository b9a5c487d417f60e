// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The derivative of attention in tiles (attend_in_tiles.hpp). Each tile recomputes its weights from the
/// logarithms of the rows' sums:
///
///     P = exp(S − l),  dS = P (dO V − Σ dO O)         dQ += scale dS K,  dK += scale dS Q,  dV += P dO

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/sequences/pull_attention_in_ring.hpp>
#include <ostraka/engine/sequences/tiles/attend_in_tiles.hpp>

namespace ostraka::engine {

namespace detail {

/// One thread's work of the backward pass.
template <class T>
class pulling_thread {
 public:
  using wide = accumulator_of_t<T>;

  struct operands : tile_operands<T> {
    score_rule_cotangents<wide> const& of_rule;
    T const* out;
    wide const* log_sums;
    T const* g;
    T* dq;
    wide* dk;
    wide* dv;
    wide* result_sums;  ///< for each row Σ dO O, or null
  };
  /// The cotangents that a task computes: those of every `parts`-th tile of queries, or of keys, from `part` on.
  struct wanted {
    bool queries = true, keys = true;
    std::int64_t part = 0, parts = 1;

    [[nodiscard]] bool has_queries(std::int64_t first) const {
      return !queries || first / tile_queries % parts == part;
    }
    [[nodiscard]] bool has_keys(std::int64_t first) const { return !keys || first / tile_keys % parts == part; }
  };

  pulling_thread(operands const& all, wide* scratch)
      : in_(all),
        pieces_(scratch),
        width_step_(round_up(all.lies.width, all.micro.lanes)),
        value_step_(round_up(all.lies.value_width, all.micro.lanes)),
        dense_(
            pieces_.take(std::max(all.lies.keys, all.lies.tile_rows) * std::max(all.lies.width, all.lies.value_width))),
        key_columns_{all.micro, take_panels(all.lies.width, all.lies.keys), all.lies.width, all.lies.keys},
        value_columns_{all.micro, take_panels(all.lies.value_width, all.lies.keys), all.lies.value_width,
                       all.lies.keys},
        key_rows_{all.micro, take_panels(all.lies.keys, all.lies.width), all.lies.keys, all.lies.width},
        finite_keys_(pieces_.take(all.lies.keys / tile_keys + 1)),
        of_keys_(pieces_.take(round_up(all.lies.keys, all.micro.rows) * width_step_)),
        of_values_(pieces_.take(round_up(all.lies.keys, all.micro.rows) * value_step_)),
        queries_(pieces_.take(all.lies.tile_rows * all.lies.width)),
        cotangents_(pieces_.take(all.lies.tile_rows * all.lies.value_width)),
        packed_queries_(take_panels(all.lies.tile_rows, all.lies.width)),
        packed_cotangents_(take_panels(all.lies.tile_rows, all.lies.value_width)),
        scores_(pieces_.take(all.lies.tile_rows * all.lies.tile_step)),
        of_scores_(pieces_.take(all.lies.tile_rows * all.lies.tile_step)),
        products_(pieces_.take(has_cap() ? all.lies.tile_rows * all.lies.tile_step : 0)),
        of_queries_(pieces_.take(all.lies.tile_rows * width_step_)),
        log_sums_(pieces_.take(all.lies.tile_rows)),
        result_sums_(pieces_.take(all.lies.tile_rows)) {}

  [[nodiscard]] static std::int64_t scratch_size(operands const& all) {
    pulling_thread const none(all, nullptr);
    return none.pieces_.taken();
  }

  void run(std::int64_t group, wanted const& what) {
    attention_layout const& lies = in_.lies;
    std::int64_t k = -1, v = -1;
    lies.for_each_head(group, [&](head_place const& at) {
      if (at.k != k) {
        begin_keys(k, what);
        pack_keys(k = at.k);
      }
      if (at.v != v) {
        begin_values(v, what);
        pack_values(v = at.v);
      }
      for (std::int64_t begin = 0; begin < lies.queries; begin += tile_queries) {
        if (!what.keys && !what.has_queries(begin)) continue;
        tile(at, {begin, std::min(begin + tile_queries, lies.queries)}, what);
        if (in_.is_alone) progress();
      }
    });
    begin_keys(k, what);
    begin_values(v, what);
  }

 private:
  [[nodiscard]] bool has_cap() const { return in_.rule.rule().soft_cap > wide(0); }
  wide* take_panels(std::int64_t depth, std::int64_t columns) {
    return pieces_.take(tile_panels<wide>::size(in_.micro, depth, columns));
  }

  /// Adds the accumulated cotangents of the keys to dk at `at`, unless `at` is negative, and resets them to zero.
  void begin_keys(std::int64_t at, wanted const& what) {
    begin(in_.dk, at, in_.lies.width, width_step_, of_keys_, what,
          [&](std::int64_t key, std::int64_t j) { return key * in_.lies.k_step.row + j * in_.lies.k_step.column; });
  }
  void begin_values(std::int64_t at, wanted const& what) {
    begin(in_.dv, at, in_.lies.value_width, value_step_, of_values_, what, [&](std::int64_t key, std::int64_t j) {
      std::int64_t place[2];
      in_.lies.values.locate(j, place);
      return key * in_.lies.v_step + place[0];
    });
  }
  template <class Place>
  void begin(wide* to, std::int64_t at, std::int64_t columns, std::int64_t step, wide* sums, wanted const& what,
             Place const& place) const {
    if (!what.keys) return;
    for (std::int64_t key = 0; key < in_.lies.keys && at >= 0; ++key)
      if (what.has_keys(key)) {
        bool const is_run = columns > 0 && place(0, columns - 1) == columns - 1;
        if (is_run)
          for_each_independent(
              columns, [to = to + at + place(key, 0), from = sums + key * step](std::int64_t j) { to[j] += from[j]; });
        else
          for (std::int64_t j = 0; j < columns; ++j) to[at + place(key, j)] += sums[key * step + j];
      }
    std::fill(sums, sums + round_up(in_.lies.keys, in_.micro.rows) * step, wide(0));
  }

  void pack_keys(std::int64_t at) const {
    attention_layout const& lies = in_.lies;
    load_rows(in_.k + at, lies.k_step.row, lies.k_step.column, lies.keys, lies.width, dense_, wide(1));
    key_columns_.pack_columns(dense_);
    key_rows_.pack_rows(dense_);
    find_finite(dense_, lies.keys, lies.width, finite_keys_);
  }
  void pack_values(std::int64_t at) const {
    attention_layout const& lies = in_.lies;
    load_rows<0>(in_.v + at, lies.v_step, lies.values, lies.keys, dense_);
    value_columns_.pack_columns(dense_);
  }

  void tile(head_place const& at, planner::range q, wanted const& what) {
    attention_layout const& lies = in_.lies;
    std::int64_t const n = q.size(), padded = round_up(n, in_.micro.rows);
    tile_panels<wide> const packed_q{in_.micro, packed_queries_, n, lies.width},
        packed_g{in_.micro, packed_cotangents_, n, lies.value_width};
    load_tile(at, q, padded);
    bool const are_finite_queries = is_finite_run(queries_, n * lies.width),
               are_finite_cotangents = is_finite_run(cotangents_, n * lies.value_width);
    if (what.keys) packed_q.pack_rows(queries_), packed_g.pack_rows(cotangents_);
    bool const wants_queries = what.queries && what.has_queries(q.begin);
    if (wants_queries) std::fill(of_queries_, of_queries_ + padded * width_step_, wide(0));
    for_each_keys_of_tile(in_.rule.seen(), in_.rule.positions(q), lies.keys, [&](planner::keys_of_tile const& k) {
      std::int64_t const first = k.where.begin, keys = k.where.size();
      if (!what.queries && !what.has_keys(first)) return;
      bool const hides = in_.rule.hides(k.is_masked);
      weigh(at, q, k, padded);
      auto const add = [&](bool is_finite, tile_lines<wide> const& a, tile_panels<wide> const& b, std::int64_t begin,
                           std::int64_t depth, wide* sums, std::int64_t step, std::int64_t rows, std::int64_t whole) {
        if (hides && !is_finite)
          add_seen_terms(a, b, begin, depth, sums, step, rows);
        else
          multiply_tile(a, b, begin, depth, 0, b.columns, sums, step, whole, true);
      };
      if (what.keys) {
        add(are_finite_cotangents, {scores_, 1, lies.tile_step}, packed_g, 0, n, of_values_ + first * value_step_,
            value_step_, keys, keys);
        add(are_finite_queries, {of_scores_, 1, lies.tile_step}, packed_q, 0, n, of_keys_ + first * width_step_,
            width_step_, keys, keys);
      }
      if (wants_queries)
        add(finite_keys_[first / tile_keys] != wide(0), {of_scores_, lies.tile_step, 1}, key_rows_, first, keys,
            of_queries_, width_step_, n, padded);
    });
    if (wants_queries) {
      loop_nest<2> along;
      along.add(lies.width, lies.q_step.column, lies.q_step.column);
      store_rows<0>(of_queries_, width_step_, n, in_.dq + at.q + q.begin * lies.q_step.row, lies.q_step.row, along,
                    [this](std::int64_t) { return in_.scale; });
    }
  }

  void load_tile(head_place const& at, planner::range q, std::int64_t padded) const {
    attention_layout const& lies = in_.lies;
    std::int64_t const n = q.size(), columns = lies.value_width, first = at.out + q.begin * lies.out_step,
                       row = at.row + q.begin * lies.row_step;
    load_rows(in_.q + at.q + q.begin * lies.q_step.row, lies.q_step.row, lies.q_step.column, n, lies.width, queries_,
              in_.scale);
    load_rows<1>(in_.g + first, lies.out_step, lies.values, n, cotangents_);
    load_rows<1>(in_.out + first, lies.out_step, lies.values, n, dense_);
    std::fill(queries_ + n * lies.width, queries_ + padded * lies.width, wide(0));
    std::fill(cotangents_ + n * columns, cotangents_ + padded * columns, wide(0));
    with_wide_vectors([&, this] {
      for (std::int64_t r = 0; r < n; ++r)
        result_sums_[r] = sum_of_run<true, wide>(
            columns, [a = cotangents_ + r * columns, b = dense_ + r * columns](std::int64_t j) { return a[j] * b[j]; });
    });
    for (std::int64_t r = 0; r < n; ++r) {
      log_sums_[r] = in_.log_sums[row + r * lies.row_step];
      if (in_.result_sums != nullptr) in_.result_sums[row + r * lies.row_step] = result_sums_[r];
    }
  }

  /// Computes the weights of a product and the cotangents of its scores, both 0 for hidden pairs.
  void weigh(head_place const& at, planner::range q, planner::keys_of_tile const& k, std::int64_t padded) const {
    attention_layout const& lies = in_.lies;
    std::int64_t const n = q.size(), keys = k.where.size(), used = round_up(keys, in_.micro.rows);
    multiply_tile({queries_, lies.width, 1}, key_columns_, 0, lies.width, k.where.begin, k.where.end, scores_,
                  lies.tile_step, padded, false);
    multiply_tile({cotangents_, lies.value_width, 1}, value_columns_, 0, lies.value_width, k.where.begin, k.where.end,
                  of_scores_, lies.tile_step, padded, false);
    bool const is_ruled = in_.rule.is_ruled(k.is_masked);
    if (has_cap()) std::copy(scores_, scores_ + n * lies.tile_step, products_);
    score_box box;
    if (is_ruled) in_.rule.score(box = in_.rule.box(at, q, k), scores_, lies.tile_step);
    with_wide_vectors([&, this] {
      for (std::int64_t r = 0; r < n; ++r) {
        std::int64_t const seen = is_ruled ? keys : in_.rule.visible_keys(q.begin + r, k);
        is_ruled ? pull_row<true>(r, seen) : pull_row<false>(r, seen);
        for (std::int64_t j = seen; j < used; ++j)
          scores_[r * in_.lies.tile_step + j] = of_scores_[r * in_.lies.tile_step + j] = wide(0);
      }
    });
    if (is_ruled) pull_rule(box, n, keys);
  }

  template <bool IsRuled>
  void pull_row(std::int64_t r, std::int64_t seen) const {
    wide* const s = scores_ + r * in_.lies.tile_step;
    wide* const g = of_scores_ + r * in_.lies.tile_step;
    wide const log_sum = log_sums_[r], result = result_sums_[r];
    for_each_independent(seen, [=](std::int64_t j) {
      wide const w = engine::exp(s[j] - log_sum);
      s[j] = IsRuled && s[j] == minus_infinity<wide> ? wide(0) : w;
    });
    for_each_independent(seen, [=](std::int64_t j) {
      wide const pulled = s[j] * (g[j] - result);
      g[j] = IsRuled && s[j] == wide(0) ? wide(0) : pulled;
    });
  }

  /// Adds the cotangents of a bias, and turns those of scores into those of products.
  void pull_rule(score_box const& box, std::int64_t n, std::int64_t keys) const {
    if (score_cotangents<wide> const& bias = in_.of_rule.bias; bias.block != nullptr) {
      std::int64_t const step = bias.met.stride[box.rank - 1];
      wide* to = bias.met.data;
      for (int d = 0; d < box.rank; ++d) to += box.begin[d] * bias.met.stride[d];
      for (std::int64_t r = 0; r < n; ++r, to += bias.met.stride[box.queries]) {
        wide const* const g = of_scores_ + r * in_.lies.tile_step;
        if (step == 0)
          *to += sum_of_run<true, wide>(keys, [g](std::int64_t j) { return g[j]; });
        else
          for_each_independent(keys, [=](std::int64_t j) { to[j * step] += g[j]; });
      }
    }
    if (!has_cap()) return;
    for (std::int64_t r = 0; r < n; ++r)
      for_each_independent(keys, [g = of_scores_ + r * in_.lies.tile_step, x = products_ + r * in_.lies.tile_step,
                                  cap = in_.rule.rule().soft_cap](std::int64_t j) {
        wide const t = engine::tanh(x[j] / cap), pulled = g[j] * (wide(1) - t * t);
        g[j] = g[j] == wide(0) ? wide(0) : pulled;
      });
  }

  operands const& in_;
  scratch_pieces<wide> pieces_;
  std::int64_t width_step_, value_step_;
  wide* dense_;  // before it is packed
  tile_panels<wide> key_columns_, value_columns_, key_rows_;
  wide* finite_keys_;
  wide* of_keys_;
  wide* of_values_;
  wide* queries_;
  wide* cotangents_;
  wide* packed_queries_;
  wide* packed_cotangents_;
  wide* scores_;
  wide* of_scores_;
  wide* products_;
  wide* of_queries_;
  wide* log_sums_;
  wide* result_sums_;
};

/// Adds the cotangents of sinks, row by row.
template <class T>
void pull_sinks_of_rows(attended_blocks const& b, score_rule<T> const& rule, aligned<T> const& to, T const* log_sums,
                        T const* result_sums) {
  place_of_row<T const> const from(b.scores, rule.sinks);
  place_of_row<T> const place(b.scores, to);
  for (std::int64_t row = 0; row < b.rows(); ++row) {
    T const share = engine::exp(rule.sinks.data[from(row)] - log_sums[row]);
    if (share != T(0)) to.data[place(row)] -= share * result_sums[row];
  }
}

}  // namespace detail

/// The same as pull_attention_in_ring, if nothing divides the keys.
template <class Exec, class T>
void pull_attention_in_tiles(Exec const& exec, execution_context const& w, ring_attention const& p, T const* q,
                             T const* k, T const* v, T const* out, accumulator_of_t<T> const* log_sums, T const* g,
                             T* dq, T* dk, T* dv, score_rule<accumulator_of_t<T>> const& rule,
                             score_rule_cotangents<accumulator_of_t<T>> const& of_rule) {
  if constexpr (!runs_on_host<Exec>) {
    pull_attention_in_ring(exec, w, p, q, k, v, out, log_sums, g, dq, dk, dv, rule, of_rule);
  } else {
    using wide = accumulator_of_t<T>;
    using scratch = kernel_scratch<wide, typename Exec::memory_space>;
    if (w.here.nowhere) return;
    profiled const region(w, [&] {
      push_blocks(w.operation, p.q, w.names, "reads", planner::block_size(p.q, w.here, w.sizes) * int{sizeof(T)});
    });
    detail::attended_blocks const blocks(w, p);
    detail::micro_kernel<wide> const micro = detail::choose_micro_kernel<wide>();
    detail::attention_layout const lies(blocks, p, micro);
    detail::count_tile_flops(lies, p, 3, 2, int{sizeof(T)});
    auto const clear = [&](score_cotangents<wide> const& made) {
      if (made.elements > 0) fill(exec, made.block, made.elements, wide(0));
    };
    clear(of_rule.bias);
    clear(of_rule.sinks);
    detail::cotangent_sum_of<Exec, T> const of_keys(exec, dk, blocks.k), of_values(exec, dv, blocks.v);
    detail::tile_scores<wide> const scores(p, lies, rule);
    bool const has_sinks = of_rule.sinks.block != nullptr;
    scratch const result_sums(has_sinks ? blocks.rows() : 0);
    auto const tiles = [](std::int64_t n, std::int64_t of) { return (n + of - 1) / of; };
    detail::tile_tasks tasks(exec, lies.groups(),
                             std::min(tiles(lies.queries, detail::tile_queries), tiles(lies.keys, detail::tile_keys)));
    if (of_rule.bias.block != nullptr) tasks.add_to_shared(lies.groups(), lies.are_apart(of_rule.bias.met));
    typename detail::pulling_thread<T>::operands const in{
        {lies, scores, micro, static_cast<wide>(p.scale), q, k, v, tasks.shares == 1},
        of_rule,
        out,
        log_sums,
        g,
        dq,
        of_keys.block.data,
        of_values.block.data,
        has_sinks ? result_sums.data() : nullptr};
    std::int64_t const size = detail::pulling_thread<T>::scratch_size(in);
    scratch const memory(tasks.shares * size);
    auto const run = [&](bool of_queries, bool of_keys_and_values) {
      for_each_share("ostraka attention backward", exec, tasks.tasks, tasks.shares, blocks.rows() * lies.keys,
                     [&](std::int64_t begin, std::int64_t end, std::int64_t share) {
                       detail::pulling_thread<T> one(in, memory.data() + share * size);
                       for (std::int64_t task = begin; task < end; ++task)
                         one.run(task / tasks.parts, {of_queries, of_keys_and_values, task % tasks.parts, tasks.parts});
                     });
    };
    if (tasks.parts == 1) {
      run(true, true);
    } else {  // fewer heads than threads: compute the scores twice
      run(true, false);
      run(false, true);
    }
    if (has_sinks && blocks.rows() > 0 && computes())
      detail::pull_sinks_of_rows(blocks, rule, of_rule.sinks.met, log_sums,
                                 static_cast<wide const*>(result_sums.data()));
    of_keys.finish();
    of_values.finish();
  }
}

}  // namespace ostraka::engine
