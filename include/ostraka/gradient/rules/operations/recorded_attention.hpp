// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Attention on the tape, and its derivative, as functions for all shardings: the weights, weights times
/// values, and attention in tiles. One function records all calls on tensors of the same ranks (shared_node.hpp),
/// without masks and other tensors of the scores, if elements are as wide as sums and the tensors belong to the global
/// view.

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/memory/foreign_memory.hpp>
#include <ostraka/engine/sequences/mask_later_keys.hpp>
#include <ostraka/gradient/rules/operations/recorded_rows.hpp>
#include <ostraka/operations/attention/scored_ring_attention.hpp>
#include <ostraka/operations/attention/weighing_call.hpp>
#include <ostraka/operations/attention/whole_scores.hpp>

namespace ostraka::detail {

/// Weights times values, and its derivative, as constants.
template <class T, class Space>
struct weighing_and_derivative {
  char const* name = nullptr;
  void const* type_of_result = nullptr;  ///< its mark, by which regions find saved results
  weighing_call<T, Space> forward{};
  planned_operation<T, Space> to_weights{};  ///< of the result's cotangent and the values
  weighing_call<T, Space> to_values{};       ///< of the weights and the result's cotangent
};

/// The pullback of weights of rank `W` times values of rank `V`.
template <class T, class Space, int W, int V, int R>
class shared_weighing_pullback {
  using constants = weighing_and_derivative<T, Space>;

 public:
  shared_weighing_pullback(constants const& all, bool hides, shared_tensor<T, W, Space> const& weights,
                           shared_tensor<T, V, Space> const& values)
      : all_(all),
        hides_(hides),
        slot_of_weights_(weights.slot()),
        slot_of_values_(values.slot()),
        weights_(weights, values.place != nullptr),
        values_(values, weights.place != nullptr) {}

  void pull(unnamed_tensor<T, R, Space> const& g) const {
    if (slot_of_weights_ != nullptr) {
      unnamed_tensor<T, W, Space> made;
      run_on_two(all_.to_weights, "einsum", g, values_.get(), made);
      slot_of_weights_->add(made);
    }
    if (slot_of_values_ != nullptr) {
      unnamed_tensor<T, V, Space> made;
      run_weighing(all_.to_values, all_.name, hides_, weights_.get(), g, made);
      slot_of_values_->add(made);
    }
  }

 private:
  constants const& all_;
  bool hides_;
  slot_of_sum<unnamed_tensor<T, W, Space>>* slot_of_weights_;
  slot_of_sum<unnamed_tensor<T, V, Space>>* slot_of_values_;
  kept_operand<unnamed_tensor<T, W, Space>> weights_;
  kept_operand<unnamed_tensor<T, V, Space>> values_;
};

/// Writes weights times values to `y`, and puts it on their tape.
template <class T, class Space, int W, int V, int R>
[[gnu::cold, gnu::noinline]] void record_weighing(weighing_and_derivative<T, Space> const& all, bool hides,
                                                  shared_tensor<T, W, Space> const& weights,
                                                  shared_tensor<T, V, Space> const& values,
                                                  unnamed_tensor<T, R, Space>& y, place_of_tensor<T, R, Space>& place) {
  tape* const t = tape_of_operands(weights, values);
  if (auto const* const saved = saved_result<unnamed_tensor<T, R, Space>>(t, all.type_of_result))
    y = *saved;
  else
    run_weighing(all.forward, all.name, hides, weights.value, values.value, y);
  put_on_tape<shared_weighing_pullback<T, Space, W, V, R>>(t, all.name, place, all, hides, weights, values);
}

/// The weights of an attention, and their derivative, as constants.
template <class T, class Space>
struct weights_and_derivative {
  char const* name = nullptr;
  void const* type_of_result = nullptr;
  planned_operation<T, Space> scores{};  ///< of queries and keys
  axis_call softmax{};                   ///< of the scores
  int queries = 0;                       ///< the dimension of the queries in the scores
  int width = 0;                         ///< the dimension of the products in the queries
  weighing_call<T, Space> to_queries{};  ///< of the scores' cotangent and the keys
  weighing_call<T, Space> to_keys{};
};

/// The numbers of a call.
struct numbers_of_scores : scaled_scores {
  bool is_causal = false;
  std::int64_t from = 0, stripes = 0;
};

/// The pullback of the weights, which are kept.
template <class T, class Space, int Q, int K, int S>
class shared_weights_pullback {
  using constants = weights_and_derivative<T, Space>;
  using scores_type = unnamed_tensor<T, S, Space>;

 public:
  shared_weights_pullback(constants const& all, bool hides, double factor, shared_tensor<T, Q, Space> const& q,
                          shared_tensor<T, K, Space> const& k, scores_type const& weights)
      : all_(all),
        hides_(hides),
        factor_(factor),
        slot_of_q_(q.slot()),
        slot_of_k_(k.slot()),
        q_(q, k.place != nullptr),
        k_(k, q.place != nullptr),
        weights_(weights) {}

  void pull(scores_type const& g) const {
    bool const in_place = engine::holders_of(g.local()) == 1;  // by the slot
    call_of_derivative const back(all_.softmax, false);
    runtime_operand const operands[] = {runtime_operand_of(weights_), runtime_operand_of(g)};
    scores_type scores;
    if (in_place) scores = g;
    pull_rows_of(back.call, "softmax_vjp", engine::softmax_cotangents<T>{static_cast<T>(factor_)}, g.mesh_handle(),
                 operands, in_place, scores,
                 rows_to_pull<T>{weights_.local().data(), g.local().data(), nullptr, nullptr});
    if (slot_of_q_ != nullptr) pull_to(*slot_of_q_, all_.to_queries, scores, k_);
    if (slot_of_k_ != nullptr) pull_to(*slot_of_k_, all_.to_keys, scores, q_);
  }

 private:
  template <class Sum, class Other>
  void pull_to(slot_of_sum<Sum>& to, weighing_call<T, Space> const& how, scores_type const& scores,
               kept_operand<Other> const& other) const {
    Sum made;
    run_weighing(how, all_.name, hides_, scores, other.get(), made);
    to.add(made);
  }

  constants const& all_;
  bool hides_;
  double factor_;
  slot_of_sum<unnamed_tensor<T, Q, Space>>* slot_of_q_;
  slot_of_sum<unnamed_tensor<T, K, Space>>* slot_of_k_;
  kept_operand<unnamed_tensor<T, Q, Space>> q_;
  kept_operand<unnamed_tensor<T, K, Space>> k_;
  scores_type weights_;
};

/// Hides keys after the position of each query, in scores that have no other handle.
template <class T, int S, class Space>
void hide_later_keys(weights_and_derivative<T, Space> const& all, numbers_of_scores const& n,
                     unnamed_tensor<T, S, Space> const& scores) {
  map_call const& t = all.softmax.tensors;
  runtime_operand const operand = runtime_operand_of(scores);
  engine::execution_context const w =
      context_of_operands(all.name, engine::steps_ahead{}, *t.names, t.labels, t.mesh_axes, &operand, t.operands, 1);
  require_stripes(all.name, w.names.labels[all.queries], {w.sizes.label[all.queries], n.stripes});
  require_stripes(all.name, w.names.labels[S - 1], {w.sizes.label[S - 1], n.stripes});
  engine::mask_later_keys(execution_space_of<unnamed_tensor<T, S, Space>>(), w, *t.result, all.queries, n.from,
                          scores.local().data(), n.stripes);
}

/// Writes the weights of an attention to `y`, and puts them on the tape of queries and keys.
template <class T, class Space, int Q, int K, int S>
[[gnu::cold, gnu::noinline]] void record_weights(weights_and_derivative<T, Space> const& all,
                                                 numbers_of_scores const& n, shared_tensor<T, Q, Space> const& q,
                                                 shared_tensor<T, K, Space> const& k, unnamed_tensor<T, S, Space>& y,
                                                 place_of_tensor<T, S, Space>& place) {
  tape* const t = tape_of_operands(q, k);
  double const factor = n.scale_of(q.value.extents()[static_cast<std::size_t>(all.width)]);
  if (auto const* const saved = saved_result<unnamed_tensor<T, S, Space>>(t, all.type_of_result)) {
    y = *saved;
  } else {
    unnamed_tensor<T, S, Space> scores;
    run_on_two(all.scores, all.name, q.value, k.value, scores, {static_cast<T>(factor)});
    if (n.is_causal) hide_later_keys(all, n, scores);
    runtime_operand const operand = runtime_operand_of(scores);
    run_rows(all.softmax, "softmax", engine::softmax_formula<T>{n.is_causal}, scores.mesh_handle(), &operand, y,
             static_cast<T const*>(scores.local().data()));
  }
  put_on_tape<shared_weights_pullback<T, Space, Q, K, S>>(t, all.name, place, all, n.is_causal, factor, q, k, y);
}

/// Writes an attention by whole scores, of rank `S`, to `y`, and puts both of its operations on the tape.
template <int S, class T, class Space, int Q, int K, int V, int R>
[[gnu::cold, gnu::noinline]] void record_whole_attention(
    weights_and_derivative<T, Space> const& of_weights, weighing_and_derivative<T, Space> const& of_values,
    numbers_of_scores const& n, shared_tensor<T, Q, Space> const& q, shared_tensor<T, K, Space> const& k,
    shared_tensor<T, V, Space> const& v, unnamed_tensor<T, R, Space>& y, place_of_tensor<T, R, Space>& place) {
  unnamed_tensor<T, S, Space> weights;
  place_of_tensor<T, S, Space> place_of_weights;
  record_weights(of_weights, n, q, k, weights, place_of_weights);
  record_weighing(of_values, n.is_causal, shared_tensor<T, S, Space>{weights, &place_of_weights}, v, y, place);
}

/// An attention in tiles and its derivative as constants.
template <class T, class Space>
struct tiles_and_derivative {
  char const* name = nullptr;
  char const* name_of_vjp = nullptr;
  void const* type_of_result = nullptr;  ///< its mark, by which regions find saved results
  map_call tensors{};                    ///< queries, keys and values
  int queries = 0, keys = 0, width = 0;  ///< labels
  conversion<T, Space> to_operands[3] = {};
};

/// The numbers of a call.
struct tiles_of_call : scaled_scores, score_options {
  bool is_causal = false;
  std::int64_t from = 0;

  /// The tiles of this device's queries.
  template <class T, class Space>
  [[nodiscard]] engine::ring_attention blocks(engine::execution_context const& w,
                                              tiles_and_derivative<T, Space> const& all) const {
    planner::spec const* const* s = all.tensors.operands;
    engine::ring_attention p{*s[0],
                             *s[1],
                             *s[2],
                             *all.tensors.result,
                             all.queries,
                             all.keys,
                             all.width,
                             {},
                             scale_of(w.sizes.label[all.width])};
    planner::range const own = planner::range_of(p.q, p.q.find(all.queries), w.here, w.sizes);
    p.ring.queries = own.size();
    p.ring.keys = w.sizes.label[all.keys];
    p.ring.causal = is_causal;
    p.ring.window = window;
    p.ring.first = first;
    p.ring.first_position = from + own.begin;
    return p;
  }
  template <class T>
  [[nodiscard]] engine::score_rule<T> rule(engine::ring_attention const& p) const {
    engine::score_rule<T> r;
    r.seen = p.ring.seen();
    r.from = p.ring.first_position;
    r.soft_cap = static_cast<T>(soft_cap);
    return r;
  }
};

/// The pullback of an attention of queries of rank `Q`, keys of rank `K` and values of rank `V` to a result of rank
/// `R`.
template <class T, class Space, int Q, int K, int V, int R>
class shared_tiles_pullback {
  template <int Rank>
  using tensor_type = unnamed_tensor<T, Rank, Space>;
  using constants = tiles_and_derivative<T, Space>;

 public:
  shared_tiles_pullback(constants const& all, tiles_of_call const& call, shared_tensor<T, Q, Space> const& q,
                        shared_tensor<T, K, Space> const& k, shared_tensor<T, V, Space> const& v,
                        tensor_type<R> const& result, tensor_type<Q - 1> const& log_sums)
      : all_(all),
        call_(call),
        slot_of_q_(q.slot()),
        slot_of_k_(k.slot()),
        slot_of_v_(v.slot()),
        q_(q, true),
        k_(k, true),
        v_(v, true),
        result_(result),
        log_sums_(log_sums) {}

  void pull(tensor_type<R> const& g) const {
    tensor_type<Q> const q = q_.get();
    tensor_type<K> const k = k_.get();
    tensor_type<V> const v = v_.get();
    map_call const& t = all_.tensors;
    planner::spec const* const specs[] = {t.operands[0], t.operands[1], t.operands[2], t.result};
    runtime_operand const operands[] = {runtime_operand_of(q), runtime_operand_of(k), runtime_operand_of(v),
                                        runtime_operand_of(g)};
    engine::execution_context const w = context_of_operands(all_.name_of_vjp, engine::steps_ahead{}, *t.names, t.labels,
                                                            t.mesh_axes, operands, specs, 4);
    engine::ring_attention const blocks = call_.blocks(w, all_);
    auto const dq = allocate_unnamed<T, Q, Space>(q.mesh_handle(), w, *specs[0]);
    auto const dk = allocate_unnamed<T, K, Space>(q.mesh_handle(), w, *specs[1]);
    auto const dv = allocate_unnamed<T, V, Space>(q.mesh_handle(), w, *specs[2]);
    T const* const given[] = {q.local().data(),       k.local().data(),         v.local().data(),
                              result_.local().data(), log_sums_.local().data(), g.local().data()};
    engine::pull_attention_in_tiles(execution_space_of<tensor_type<Q>>(), w, blocks, given[0], given[1], given[2],
                                    given[3], given[4], given[5], dq.local().data(), dk.local().data(),
                                    dv.local().data(), call_.template rule<T>(blocks),
                                    engine::score_rule_cotangents<T>());
    add_converted(all_.to_operands[0], dq, slot_of_q_);
    add_converted(all_.to_operands[1], dk, slot_of_k_);
    add_converted(all_.to_operands[2], dv, slot_of_v_);
  }

 private:
  constants const& all_;
  tiles_of_call call_;
  slot_of_sum<tensor_type<Q>>* slot_of_q_;
  slot_of_sum<tensor_type<K>>* slot_of_k_;
  slot_of_sum<tensor_type<V>>* slot_of_v_;
  kept_operand<tensor_type<Q>> q_;
  kept_operand<tensor_type<K>> k_;
  kept_operand<tensor_type<V>> v_;
  tensor_type<R> result_;
  tensor_type<Q - 1> log_sums_;
};

/// Writes an attention in tiles to `y`, and puts it on the tape of its operands.
template <class T, class Space, int Q, int K, int V, int R>
[[gnu::cold, gnu::noinline]] void record_tiles(tiles_and_derivative<T, Space> const& all, tiles_of_call const& call,
                                               shared_tensor<T, Q, Space> const& q, shared_tensor<T, K, Space> const& k,
                                               shared_tensor<T, V, Space> const& v, unnamed_tensor<T, R, Space>& y,
                                               place_of_tensor<T, R, Space>& place) {
  tape* const t = tape_of_operands(q, k, v);
  auto const& mesh = q.value.mesh_handle();
  runtime_operand const operands[] = {runtime_operand_of(q.value), runtime_operand_of(k.value),
                                      runtime_operand_of(v.value)};
  engine::execution_context const w = begin_map(all.tensors, all.name, mesh, operands, 3, y);
  engine::ring_attention const blocks = call.blocks(w, all);
  auto const log_sums =
      allocate_unnamed<T, Q - 1, Space>(mesh, w, without_dimension(blocks.q, blocks.q.find(all.width)));
  T const* const given[] = {q.value.local().data(), k.value.local().data(), v.value.local().data()};
  engine::attend_in_tiles(execution_space_of<unnamed_tensor<T, Q, Space>>(), w, blocks, given[0], given[1], given[2],
                          y.local().data(), log_sums.local().data(), call.template rule<T>(blocks));
  if (auto const* const saved = saved_result<unnamed_tensor<T, R, Space>>(t, all.type_of_result)) y = *saved;
  put_on_tape<shared_tiles_pullback<T, Space, Q, K, V, R>>(t, all.name, place, all, call, q, k, v, y, log_sums);
}

}  // namespace ostraka::detail
