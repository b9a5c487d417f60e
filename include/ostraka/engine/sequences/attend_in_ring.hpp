// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Ring attention (attention_round.hpp): accumulates the weighted values as online_softmax.hpp describes.
///
///     for each part:  S = scale · Q K,  P = exp(S − m),  O = exp(m before − m) O + P V      finally O / Σ exp(S − m)

#include <cstdint>

#include <ostraka/engine/sequences/attention_round.hpp>
#include <ostraka/engine/sequences/multiply_unmasked.hpp>
#include <ostraka/engine/sequences/pull_scores.hpp>

namespace ostraka::engine {

/// out <- attention of this device's queries to the keys of all devices of the ring; log_sums <- for each query, the
/// logarithm of the sum that divides its weights, with the rows of the scores. `rule`: plain_scores, or a score_rule
/// for the scores of this device's queries and all keys. Collective over the mesh axes that divide the keys.
template <class Exec, class T, class Rule = plain_scores>
void attend_in_ring(Exec const& exec, execution_context const& w, ring_attention const& p, T const* q, T const* k,
                    T const* v, T* out, accumulator_of_t<T>* log_sums, Rule const& rule = {}) {
  using wide = accumulator_of_t<T>;
  if (w.here.nowhere) return;
  detail::attention_round<Exec, T, Rule> round(exec, w, p, rule, q, k, v);
  detail::attended_blocks const& b = round.blocks();

  bool const in_place = std::is_same_v<T, wide> && b.out.has_layout_of(b.weighted);
  kernel_scratch<wide, typename Exec::memory_space> const own(in_place ? 0 : b.weighted.size()),
      statistics(2 * b.rows());
  labelled_block<wide> const weighted{b.weighted, in_place ? reinterpret_cast<wide*>(out) : own.data()};
  running_softmax<wide> const so_far{statistics.data(), statistics.data() + b.rows(), weighted.data, b.width};
  fill(exec, so_far.largest, b.rows(), detail::minus_infinity<wide>);
  fill(exec, so_far.sum, b.rows(), wide(0));
  if constexpr (!std::is_same_v<Rule, plain_scores>) detail::begin_with_sinks(exec, b, rule, so_far);
  fill(exec, weighted.data, b.weighted.size(), wide(0));

  round.for_each_piece([&](int piece, std::int64_t step, bool needed) {
    if (!needed) return;
    round.for_each_product(piece, step, [&](planner::ring_product const& m, detail::scored_chunks<wide> const& c) {
      weigh_scores(exec, round.rows_of(m), c.scores.data, so_far);
      progress();
      detail::add_products(exec, readable(c.scores), c.values, weighted.part(b.queries, m.queries), round.hides(m));
    });
  });
  finish_weighing(exec, b.rows(), so_far, log_sums);
  if (!in_place) detail::convert(exec, labelled_block<T>{b.out, out}, weighted);
  fence_on_host(exec);
}

}  // namespace ostraka::engine
