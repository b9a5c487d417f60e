// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The derivative of ring attention. Keys and values travel once more, and the cotangents of a part follow it.
/// Each device adds its own cotangents to those of the previous device, which had one step's time to arrive, and passes
/// the sum on. The last device that needs the part sends them to its owner.
///
///     P = exp(S − l),  dS = scale · P (dO V − Σ dO O)         dQ += dS K,  dK += dS Q,  dV += P dO

#include <cstdint>

#include <ostraka/engine/sequences/attention_round.hpp>
#include <ostraka/engine/sequences/multiply_unmasked.hpp>
#include <ostraka/engine/sequences/pull_scores.hpp>

namespace ostraka::engine {

namespace detail {

/// Cotangents of keys and values, which follow them around the ring.
template <class Exec, class T>
class rotating_cotangents {
 public:
  using wide = accumulator_of_t<T>;

  rotating_cotangents(Exec const& exec, rotating_keys<Exec, T>& round) : exec_(exec), round_(round) {
    for (int piece = 0; piece < round.ring().pieces() && round.ring().devices > 1; ++piece) {
      for (buffer& one : made_[piece]) one = buffer(round.most_elements(piece));
      arrived_[piece] = buffer(round.most_elements(piece));
      at_home_[piece] = buffer(round.elements(round.here(), piece));
    }
  }

  /// Returns the buffers to which this device adds its own cotangents of the current piece.
  [[nodiscard]] std::pair<labelled_block<wide>, labelled_block<wide>> begin(int piece, std::int64_t step) {
    std::int64_t const home = round_.home(piece, step);
    wide* const made = made_[piece][step % 2].data();
    fill(exec_, made, round_.elements(home, piece), wide(0));
    return round_.as_blocks(made, home, piece);
  }

  /// Adds the cotangents of the previous device, and passes the sum to the next device that needs the piece, or to its
  /// owner.
  void forward_sum(int piece, std::int64_t step, bool has_made) {
    in_flight_[piece].wait();
    returning_[piece].wait();
    std::int64_t const home = round_.home(piece, step), next = round_.home(piece, step + 1), here = round_.here();
    wide* const made = made_[piece][step % 2].data();
    if (step > round_.first(home, piece) && step <= round_.last(home, piece)) {
      strided const run = row_major({round_.elements(home, piece)});
      copy(exec_, made, run, static_cast<wide const*>(arrived_[piece].data()), run,
           update<wide>{wide(1), has_made ? wide(1) : wide(0)});
    }
    auto const has = [&](std::int64_t whose) {  // true if this device passes its cotangents on
      return round_.first(whose, piece) <= step && step < round_.last(whose, piece);
    };
    auto const ends = [&](std::int64_t whose) { return round_.last(whose, piece) == step; };
    auto const at = [&](std::int64_t after) {
      return [this, piece, after](std::int64_t whose) { return round_.ring().visited(whose, piece, after); };
    };
    in_flight_[piece] =
        round_.template permute<wide>(has, at(step), at(step + 1), made, round_.elements(home, piece),
                                      arrived_[piece].data(), has(next) ? round_.elements(next, piece) : 0);
    returning_[piece] =
        round_.template permute<wide>(ends, at(step), at(0), made, round_.elements(home, piece), at_home_[piece].data(),
                                      ends(here) ? round_.elements(here, piece) : 0);
  }

  /// Adds the cotangents of this device's keys and values from other devices, if any device needed them.
  template <class F>
  void end(int piece, F const& add) {
    in_flight_[piece].wait();
    returning_[piece].wait();
    if (round_.last(round_.here(), piece) > 0)
      add(round_.as_blocks(static_cast<wide const*>(at_home_[piece].data()), round_.here(), piece));
  }

 private:
  using buffer = kernel_scratch<wide, typename Exec::memory_space>;

  Exec const& exec_;
  rotating_keys<Exec, T>& round_;
  buffer made_[2][2], arrived_[2], at_home_[2];
  run_in_flight in_flight_[2], returning_[2];  // last, so that they end before their buffers
};

/// A result that is accumulated in wide elements, in its own memory or in a buffer.
template <class Exec, class T>
class cotangent_sum_of {
 public:
  using wide = accumulator_of_t<T>;

  cotangent_sum_of(Exec const& exec, T* to, labelled const& lies)
      : exec_(exec), to_{lies, to}, own_(std::is_same_v<T, wide> ? 0 : lies.size()) {
    block = {lies, std::is_same_v<T, wide> ? reinterpret_cast<wide*>(to) : own_.data()};
    fill(exec, block.data, lies.size(), wide(0));
  }
  void finish() const {
    if constexpr (!std::is_same_v<T, wide>) convert(exec_, to_, block);
  }

  labelled_block<wide> block{};

 private:
  Exec const& exec_;
  labelled_block<T> to_;
  kernel_scratch<wide, typename Exec::memory_space> own_;
};

/// A block in wide elements, with its dimensions in this order: the block itself if it has this form, otherwise a copy.
template <class Exec, class T>
class ordered_block {
 public:
  using wide = accumulator_of_t<T>;

  ordered_block(Exec const& exec, labelled_block<T const> const& given, labelled const& order)
      : own_(is_there(given, order) ? 0 : order.size()) {
    if (is_there(given, order)) {
      block = {order, reinterpret_cast<wide const*>(given.data)};
    } else {
      convert(exec, labelled_block<wide>{order, own_.data()}, given);
      block = {order, own_.data()};
    }
  }

  labelled_block<wide const> block{};

 private:
  static bool is_there(labelled_block<T const> const& given, labelled const& order) {
    return std::is_same_v<T, wide> && given.has_layout_of(order);
  }
  kernel_scratch<wide, typename Exec::memory_space> own_;
};

}  // namespace detail

/// Computes the cotangents of this device's queries, keys and values. `g`: the cotangents of its results, with the same
/// layout. If devices along other mesh axes have the same keys and other queries, the cotangents of keys and values are
/// partial sums over these devices. `rule`: the rule of the forward pass; `of_rule`: accumulates the cotangents of the
/// rule's tensors. Collective over the mesh axes that divide the keys.
template <class Exec, class T, class Rule = plain_scores, class Pulled = plain_scores>
void pull_attention_in_ring(Exec const& exec, execution_context const& w, ring_attention const& p, T const* q,
                            T const* k, T const* v, T const* out, accumulator_of_t<T> const* log_sums, T const* g,
                            T* dq, T* dk, T* dv, Rule const& rule = {}, Pulled const& of_rule = {}) {
  using wide = accumulator_of_t<T>;
  using scratch = kernel_scratch<wide, typename Exec::memory_space>;
  if (w.here.nowhere) return;
  constexpr bool is_plain = std::is_same_v<Rule, plain_scores>;
  detail::attention_round<Exec, T, Rule> round(exec, w, p, rule, q, k, v);
  detail::attended_blocks const& b = round.blocks();
  planner::attention_ring const& ring = round.ring();
  std::int64_t const here = round.travelling().here();

  scratch const result_sums(b.rows()), pulled_buffer(round.most_scores());
  detail::ordered_block<Exec, T> const cotangents(exec, {b.out, g}, b.weighted);
  {
    detail::ordered_block<Exec, T> const results(exec, {b.out, out}, b.weighted);
    sum_products_of_rows(exec, b.rows(), b.width, cotangents.block.data, results.block.data, result_sums.data());
    fence_on_host(exec);
  }
  detail::cotangent_sum_of<Exec, T> const of_queries(exec, dq, b.q), of_keys(exec, dk, b.k), of_values(exec, dv, b.v);
  detail::rotating_cotangents<Exec, T> pulled(exec, round.travelling());

  detail::scores_puller<Exec, T, Rule, Pulled> const pull_scores(exec, round, rule, of_rule,
                                                                 static_cast<wide>(p.scale));
  if constexpr (!is_plain) pull_scores.pull_sinks(log_sums, static_cast<wide const*>(result_sums.data()));
  round.for_each_piece([&](int piece, std::int64_t step, bool needed) {
    if (needed) {
      planner::range const whole = ring.piece(here, piece);  // of step 0, whose pieces are this device's own
      auto const sums = step == 0 ? std::pair(of_keys.block.part(b.keys, whole), of_values.block.part(b.keys, whole))
                                  : pulled.begin(piece, step);
      round.for_each_product(piece, step, [&](planner::ring_product const& m, detail::scored_chunks<wide> const& c) {
        auto const some_g = cotangents.block.part(b.queries, m.queries);
        labelled_block<wide> const of_scores{c.scores, pulled_buffer.data()};
        detail::multiply(exec, some_g, c.values, of_scores, wide(1), wide(0));
        if constexpr (is_plain)
          pull_weighed_scores(exec, b.rows_of(m), c.scores.data, of_scores.data, log_sums,
                              static_cast<wide const*>(result_sums.data()), static_cast<wide>(p.scale));
        else
          pull_scores.pull(m, round.travelling().home(piece, step), c.scores, of_scores, log_sums,
                           static_cast<wide const*>(result_sums.data()));
        progress();
        detail::add_products(exec, readable(c.scores), some_g, sums.second.part(b.keys, c.part), round.hides(m));
        detail::add_products(exec, readable(of_scores), c.queries, sums.first.part(b.keys, c.part), round.hides(m));
        detail::add_products(exec, readable(of_scores), c.keys, of_queries.block.part(b.queries, m.queries),
                             round.hides(m));
      });
    }
    if (step > 0) pulled.forward_sum(piece, step, needed);
  });
  for (int piece = 0; piece < ring.pieces(); ++piece)
    pulled.end(piece, [&](auto const& made) {
      planner::range const whole = ring.piece(here, piece);
      auto const add = [&](labelled_block<wide> const& to, labelled_block<wide const> const& more) {
        copy(exec, to.data, to, more.data, more.in_order_of(to), update<wide>{wide(1), wide(1)});
      };
      add(of_keys.block.part(b.keys, whole), made.first);
      add(of_values.block.part(b.keys, whole), made.second);
    });
  of_queries.finish();
  of_keys.finish();
  of_values.finish();
  fence_on_host(exec);
}

}  // namespace ostraka::engine
