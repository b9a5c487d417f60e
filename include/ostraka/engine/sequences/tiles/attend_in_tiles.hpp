// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Attention to whole keys in tiles (Dao et al., FlashAttention, 2022): no array has the scores' shape. The
/// softmax continues from tile to tile, as online_softmax.hpp describes. On accelerators this is a single kernel
/// (attend_by_teams.hpp), or the ring of one device.
///
///     for each tile:  S = scale · Q K,  P = exp(S − m),  O = exp(m before − m) O + P V      finally O / Σ exp(S − m)

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/sequences/attend_in_ring.hpp>
#include <ostraka/engine/sequences/tiles/attend_by_teams.hpp>
#include <ostraka/engine/sequences/tiles/tiles_of_attention.hpp>

namespace ostraka::engine {

namespace detail {

/// The tasks of an attention: groups of heads, or parts of their tiles if threads would be idle.
struct tile_tasks {
  std::int64_t parts = 1, tasks = 0, shares = 1;

  template <class Exec>
  tile_tasks(Exec const& exec, std::int64_t groups, std::int64_t tiles) {
    std::int64_t const threads = std::max<std::int64_t>(1, exec.concurrency());
    if (groups <= 0) return;
    parts = std::clamp<std::int64_t>(threads / groups, 1, std::max<std::int64_t>(1, tiles));
    tasks = groups * parts;
    shares = std::min(tasks, threads);
  }

  /// Changes the tasks for sums into a tensor that tasks may share: each group is one task, and one thread runs all if
  /// groups share elements.
  void add_to_shared(std::int64_t groups, bool are_apart) {
    parts = 1;
    tasks = groups;
    shares = are_apart ? std::min(groups, shares) : 1;
  }
};

/// to[i] <- 1 if block i of `tile_keys` rows has no infinity and no NaN, else 0.
template <class T>
void find_finite(T const* rows, std::int64_t count, std::int64_t columns, T* to) {
  for (std::int64_t begin = 0; begin < count; begin += tile_keys, ++to)
    *to = T(is_finite_run(rows + begin * columns, std::min(tile_keys, count - begin) * columns));
}

/// The keys and values of a head, packed once for all its tiles.
template <class T, class Wide>
struct packed_heads {
  attention_layout const& lies;
  micro_kernel<Wide> const& micro;
  Wide* dense;   ///< before it is packed; free afterwards
  Wide* finite;  ///< for each block of keys, 1 if its values have no infinity and no NaN
  tile_panels<Wide> keys, values;
  std::int64_t k = -1, v = -1;

  packed_heads(attention_layout const& l, micro_kernel<Wide> const& m, scratch_pieces<Wide>& from)
      : lies(l),
        micro(m),
        dense(from.take(std::max(l.keys, l.tile_rows) * std::max(l.width, l.value_width))),
        finite(from.take(l.keys / tile_keys + 1)),
        keys{m, from.take(tile_panels<Wide>::size(m, l.width, l.keys)), l.width, l.keys},
        values{m, from.take(tile_panels<Wide>::size(m, l.keys, l.value_width)), l.keys, l.value_width} {}

  void pack(head_place const& at, T const* all_k, T const* all_v) {
    if (at.k != k) {
      load_rows(all_k + at.k, lies.k_step.row, lies.k_step.column, lies.keys, lies.width, dense, Wide(1));
      keys.pack_columns(dense);
    }
    if (at.v != v) {
      load_rows<0>(all_v + at.v, lies.v_step, lies.values, lies.keys, dense);
      values.pack_rows(dense);
      find_finite(dense, lies.keys, lies.value_width, finite);
    }
    k = at.k;
    v = at.v;
  }
};

/// The operands that the passes of an attention in tiles share.
template <class T>
struct tile_operands {
  using wide = accumulator_of_t<T>;
  attention_layout const& lies;
  tile_scores<wide> const& rule;
  micro_kernel<wide> const& micro;
  wide scale;
  T const* q;
  T const* k;
  T const* v;
  bool is_alone;  ///< the calling thread works alone, and lets its operations in flight progress
};

/// One thread's work of the forward pass.
template <class T>
class attending_thread {
 public:
  using wide = accumulator_of_t<T>;

  struct operands : tile_operands<T> {
    T* out;
    wide* log_sums;
  };

  attending_thread(operands const& all, wide* scratch)
      : in_(all),
        pieces_(scratch),
        heads_(all.lies, all.micro, pieces_),
        value_step_(round_up(all.lies.value_width, all.micro.lanes)),
        queries_(pieces_.take(all.lies.tile_rows * all.lies.width)),
        scores_(pieces_.take(all.lies.tile_rows * all.lies.tile_step)),
        weighted_(pieces_.take(all.lies.tile_rows * value_step_)),
        largest_(pieces_.take(all.lies.tile_rows)),
        sum_(pieces_.take(all.lies.tile_rows)) {}

  /// Returns the number of elements of scratch memory that a thread needs.
  [[nodiscard]] static std::int64_t scratch_size(operands const& all) {
    attending_thread const none(all, nullptr);
    return none.pieces_.taken();
  }

  /// Computes the attention of the heads of a group, for every `parts`-th tile of queries from `part` on.
  void run(std::int64_t group, std::int64_t part, std::int64_t parts) {
    attention_layout const& lies = in_.lies;
    lies.for_each_head(group, [&](head_place const& at) {
      heads_.pack(at, in_.k, in_.v);
      for (std::int64_t begin = part * tile_queries; begin < lies.queries; begin += parts * tile_queries) {
        tile(at, {begin, std::min(begin + tile_queries, lies.queries)});
        if (in_.is_alone) progress();
      }
    });
  }

 private:
  void tile(head_place const& at, planner::range q) {
    attention_layout const& lies = in_.lies;
    std::int64_t const n = q.size(), padded = round_up(n, in_.micro.rows);
    load_rows(in_.q + at.q + q.begin * lies.q_step.row, lies.q_step.row, lies.q_step.column, n, lies.width, queries_,
              in_.scale);
    std::fill(queries_ + n * lies.width, queries_ + padded * lies.width, wide(0));
    begin_softmax(at, n);
    bool is_first = true;
    for_each_keys_of_tile(in_.rule.seen(), in_.rule.positions(q), lies.keys, [&](planner::keys_of_tile const& k) {
      multiply_tile({queries_, lies.width, 1}, heads_.keys, 0, lies.width, k.where.begin, k.where.end, scores_,
                    lies.tile_step, padded, false);
      bool const is_ruled = in_.rule.is_ruled(k.is_masked);
      if (is_ruled) in_.rule.score(in_.rule.box(at, q, k), scores_, lies.tile_step);
      with_wide_vectors([&, this] {
        for (std::int64_t r = 0; r < n; ++r)
          weigh_row(r, k.where.size(), is_ruled ? k.where.size() : in_.rule.visible_keys(q.begin + r, k), !is_first);
      });
      if (is_first) std::fill(weighted_, weighted_ + padded * value_step_, wide(0));
      tile_lines<wide> const weights{scores_, lies.tile_step, 1};
      if (in_.rule.hides(k.is_masked) && heads_.finite[k.where.begin / tile_keys] == wide(0))
        add_seen_terms(weights, heads_.values, k.where.begin, k.where.size(), weighted_, value_step_, n);
      else
        multiply_tile(weights, heads_.values, k.where.begin, k.where.size(), 0, lies.value_width, weighted_,
                      value_step_, padded, true);
      is_first = false;
    });
    if (is_first) std::fill(weighted_, weighted_ + padded * value_step_, wide(0));
    finish(at, q);
  }

  void begin_softmax(head_place const& at, std::int64_t n) {
    score_rule<wide> const& rule = in_.rule.rule();
    wide first = minus_infinity<wide>;
    if (rule.sinks.data != nullptr) {
      std::int64_t place = 0;
      for (int d = 0; d < in_.lies.rank - 1; ++d) place += at.index[d] * rule.sinks.stride[d];
      first = rule.sinks.data[place];
    }
    std::fill(largest_, largest_ + n, first);
    std::fill(sum_, sum_ + n, first == minus_infinity<wide> ? wide(0) : wide(1));
  }

  /// Turns scores into weights relative to the largest score so far; weights of hidden keys, beyond `seen`, become 0.
  void weigh_row(std::int64_t r, std::int64_t keys, std::int64_t seen, bool has_sums) const {
    wide* const s = scores_ + r * in_.lies.tile_step;
    wide const highest = largest_of_run(s, seen), before = largest_[r];
    wide shift = shift_of(before);
    if (before < highest) {
      shift = shift_of(highest);
      wide const factor = engine::exp(before - shift);
      largest_[r] = highest;
      sum_[r] *= factor;
      if (has_sums)
        for_each_independent(value_step_,
                             [to = weighted_ + r * value_step_, factor](std::int64_t e) { to[e] *= factor; });
    }
    for_each_independent(seen, [s, shift](std::int64_t k) { s[k] = engine::exp(s[k] - shift); });
    sum_[r] += sum_of_run<true, wide>(seen, [s](std::int64_t k) { return s[k]; });
    for (std::int64_t k = seen; k < keys; ++k) s[k] = wide(0);
  }

  void finish(head_place const& at, planner::range q) const {
    store_rows<1>(weighted_, value_step_, q.size(), in_.out + at.out + q.begin * in_.lies.out_step, in_.lies.out_step,
                  in_.lies.values, [this](std::int64_t r) { return sum_[r] == wide(0) ? wide(0) : wide(1) / sum_[r]; });
    for (std::int64_t r = 0; r < q.size(); ++r)
      in_.log_sums[at.row + (q.begin + r) * in_.lies.row_step] =
          sum_[r] == wide(0) ? -minus_infinity<wide> : shift_of(largest_[r]) + engine::log(sum_[r]);
  }

  operands const& in_;
  scratch_pieces<wide> pieces_;
  packed_heads<T, wide> heads_;
  std::int64_t value_step_;
  wide* queries_;
  wide* scores_;
  wide* weighted_;
  wide* largest_;
  wide* sum_;
};

/// The heads of a device's block.
struct head_extents {
  std::int64_t heads = 0, queries = 0, keys = 0, width = 0, values = 0;
};

/// Counts the flops of the tiles: `of_width` products of a pair along the width, `of_values` along the values.
inline void count_tile_flops(head_extents const& of, ring_attention const& p, std::int64_t of_width,
                             std::int64_t of_values, int element_bytes, planner::tile_extents const& tile = {}) {
  if (!counts_flops()) return;
  planner::range const queries{p.ring.first_position, p.ring.first_position + of.queries};
  std::int64_t const pairs = pairs_in_tiles(p.ring.seen(), queries, of.keys, tile),
                     flops = 2 * of.heads * pairs * (of_width * of.width + of_values * of.values);
  if (counted_flops != nullptr) *counted_flops += flops;
  if (has_listeners())
    report_computed(flops, of.heads * (of.queries + of.keys) * (of.width + of.values) * element_bytes, element_bytes);
}
inline void count_tile_flops(attention_layout const& lies, ring_attention const& p, std::int64_t of_width,
                             std::int64_t of_values, int element_bytes) {
  count_tile_flops({lies.shared.size() * lies.within.size(), lies.queries, lies.keys, lies.width, lies.value_width}, p,
                   of_width, of_values, element_bytes);
}

/// Attention as a single kernel, in tiles `p.tile`. It reads operands in place, and needs no other memory.
template <class Exec, class T>
void attend_by_teams(Exec const& exec, execution_context const& w, ring_attention const& p, T const* q, T const* k,
                     T const* v, T* out, accumulator_of_t<T>* log_sums, score_rule<accumulator_of_t<T>> const& rule) {
  using wide = accumulator_of_t<T>;
  if (w.here.nowhere) return;
  profiled const region(w, [&] {
    push_blocks(w.operation, p.q, w.names, "reads", planner::block_size(p.q, w.here, w.sizes) * int{sizeof(T)});
  });
  attended_blocks const blocks(w, p);
  team_layout const lies(blocks, p, rule);
  std::int64_t const keys = blocks.k.extent_of(blocks.keys);
  count_tile_flops({lies.heads.size(), lies.queries, keys, lies.width, lies.values}, p, 1, 1, int{sizeof(T)}, p.tile);
  attention_teams<Exec, T> const teams{lies,
                                       keys_of_team(p.ring.seen(), keys, p.tile.keys),
                                       team_scores<wide>(rule, lies.query_dimension, lies.key_dimension),
                                       static_cast<wide>(p.scale),
                                       rule.sinks.data,
                                       q,
                                       k,
                                       v,
                                       out,
                                       log_sums};
  teams.run(exec);
  fence_on_host(exec);
}

}  // namespace detail

/// The same as attend_in_ring, if nothing divides the keys.
template <class Exec, class T>
void attend_in_tiles(Exec const& exec, execution_context const& w, ring_attention const& p, T const* q, T const* k,
                     T const* v, T* out, accumulator_of_t<T>* log_sums, score_rule<accumulator_of_t<T>> const& rule) {
  if constexpr (!runs_on_host<Exec>) {
    if (p.tile.queries > 0)
      detail::attend_by_teams(exec, w, p, q, k, v, out, log_sums, rule);
    else
      attend_in_ring(exec, w, p, q, k, v, out, log_sums, rule);
  } else {
    using wide = accumulator_of_t<T>;
    if (w.here.nowhere) return;
    profiled const region(w, [&] {
      push_blocks(w.operation, p.q, w.names, "reads", planner::block_size(p.q, w.here, w.sizes) * int{sizeof(T)});
    });
    detail::attended_blocks const blocks(w, p);
    detail::micro_kernel<wide> const micro = detail::choose_micro_kernel<wide>();
    detail::attention_layout const lies(blocks, p, micro);
    detail::count_tile_flops(lies, p, 1, 1, int{sizeof(T)});
    detail::tile_scores<wide> const scores(p, lies, rule);
    detail::tile_tasks const tasks(exec, lies.groups(),
                                   (lies.queries + detail::tile_queries - 1) / detail::tile_queries);
    typename detail::attending_thread<T>::operands const in{
        {lies, scores, micro, static_cast<wide>(p.scale), q, k, v, tasks.shares == 1}, out, log_sums};
    std::int64_t const size = detail::attending_thread<T>::scratch_size(in);
    kernel_scratch<wide, typename Exec::memory_space> const scratch(tasks.shares * size);
    for_each_share("ostraka attention", exec, tasks.tasks, tasks.shares, blocks.rows() * lies.keys,
                   [&](std::int64_t begin, std::int64_t end, std::int64_t share) {
                     detail::attending_thread<T> one(in, scratch.data() + share * size);
                     for (std::int64_t task = begin; task < end; ++task)
                       one.run(task / tasks.parts, task % tasks.parts, tasks.parts);
                   });
  }
}

}  // namespace ostraka::engine
