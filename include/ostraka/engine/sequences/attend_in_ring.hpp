// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Ring attention: while a device multiplies its queries with the keys that are there, the next ones arrive.
/// Scores are of the part that is there alone; what they weigh is summed up as online_softmax.hpp says.
///
///     for each part:  S = scale · Q K,  P = exp(S − m),  O = exp(m before − m) O + P V      at last O / Σ exp(S − m)

#include <cstdint>

#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/engine/sequences/multiply_seen.hpp>
#include <ostraka/engine/sequences/ring_blocks.hpp>

namespace ostraka::engine {

namespace detail {

/// The product of chunks as part of the piece that is there: its keys counted from the piece's first.
inline planner::range within(planner::range keys, planner::range piece) {
  return {keys.begin - piece.begin, keys.end - piece.begin};
}

/// Room for the scores of any piece.
template <class Exec, class T>
[[nodiscard]] std::int64_t most_scores(keys_going_round<Exec, T> const& round, attended_blocks const& b) {
  std::int64_t most = 0;
  for (int piece = 0; piece < round.ring().pieces(); ++piece)
    for (std::int64_t home = 0; home < round.ring().devices; ++home)
      if (std::int64_t const n = round.ring().piece(home, piece).size(); n > most) most = n;
  return most * b.rows();
}

template <class Exec, class T>
void fill_zeros(Exec const& exec, T* to, std::int64_t elements) {
  fill(exec, to, elements, T(0));
}

}  // namespace detail

/// out <- attention of this device's queries to the keys of all devices of the ring; log_sums <- the logarithm of what
/// the weights of each query were divided by, rows as in scores. Collective over the mesh axes that divide the keys.
template <class Exec, class T>
void attend_in_ring(Exec const& exec, execution_context const& w, ring_attention const& p, T const* q, T const* k,
                    T const* v, T* out, accumulator_of_t<T>* log_sums) {
  using wide = accumulator_of_t<T>;
  using scratch = kernel_scratch<wide, typename Exec::memory_space>;
  if (w.here.nowhere) return;
  profiled const region_of_run([&] {
    push_blocks(w.operation, p.q, w.names, "reads", planner::block_size(p.q, w.here, w.sizes) * int{sizeof(T)});
  });
  detail::attended_blocks const b(w, p);
  detail::keys_going_round<Exec, T> round(exec, w, p, b, k, v);
  planner::attention_ring const& ring = round.ring();

  bool const in_place = std::is_same_v<T, wide> && b.out.lies_as(b.weighted);
  scratch const own(in_place ? 0 : b.weighted.size()), statistics(2 * b.rows()),
      score_room(detail::most_scores(round, b));
  labelled_block<wide> const weighted{b.weighted, in_place ? reinterpret_cast<wide*>(out) : own.data()};
  softmax_so_far<wide> const so_far{statistics.data(), statistics.data() + b.rows(), weighted.data, b.width};
  fill(exec, so_far.largest, b.rows(), detail::minus_infinity<wide>);
  detail::fill_zeros(exec, so_far.sum, b.rows());
  detail::fill_zeros(exec, weighted.data, b.weighted.size());
  detail::wide_block<Exec, T> const queries(exec, {b.q, q});

  for (std::int64_t step = 0; step < ring.devices; ++step) {
    if (step + 1 < ring.devices) round.begin(step);
    for (int piece = 0; piece < ring.pieces(); ++piece) {
      std::int64_t const home = round.home(piece, step);
      if (!ring.needs(round.here(), home, piece)) continue;
      planner::range const whole = ring.piece(home, piece);
      detail::wide_block<Exec, T> const keys(exec, round.keys(piece, step)), values(exec, round.values(piece, step));
      ring.for_each_product(round.here(), home, piece, [&](planner::ring_product const& m) {
        attended_chunks += m.chunks;
        planner::range const part = detail::within(m.keys, whole);
        labelled_block<wide> const scores{b.scores_of(m), score_room.data()};
        detail::multiply(exec, queries.block.part(b.queries, m.queries), keys.block.part(b.keys, part), scores,
                         static_cast<wide>(p.scale), wide(0));
        weigh_scores(exec, b.rows_of(m), scores.data, so_far);
        progress();
        detail::add_products(exec, readable(scores), values.block.part(b.keys, part),
                             weighted.part(b.queries, m.queries), m.is_masked);
      });
    }
    round.end();
  }
  finish_weighing(exec, b.rows(), so_far, log_sums);
  if (!in_place) detail::convert(exec, labelled_block<T>{b.out, out}, weighted);
  fence(exec);
}

}  // namespace ostraka::engine
