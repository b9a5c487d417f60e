// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Sinks, and the derivative of scores (score_pairs.hpp) in rings, which recompute the weights:
///
///     m = sink, Σ = 1 before the first part             d sink = −Σ exp(sink − l) · (dO O)
///     dS = w (dO V − dO O), 0 where w is 0              d bias = Σ dS over the axes that it lacks
///     dX = scale · dS · (1 − tanh²(X / c))              with a soft cap; X: the products

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/sequences/attention_round.hpp>

namespace ostraka::engine {

/// The cotangents of a tensor of the score rule: this device's block, aligned with the scores; null: not wanted.
template <class T>
struct score_cotangents {
  aligned<T> met{};
  T* block = nullptr;
  std::int64_t elements = 0;
};
template <class T>
struct score_rule_cotangents {
  score_cotangents<T> bias{}, sinks{};
};

namespace detail {

/// The position of a row of this device's scores in an aligned tensor, which may lack queries and keys.
template <class T>
struct place_of_row {
  int rank;
  std::int64_t extent[max_rank] = {}, stride[max_rank] = {};

  place_of_row(labelled const& scores, aligned<T> const& a) : rank(scores.rank - 1) {
    for (int d = 0; d < rank; ++d) extent[d] = scores.extent[d], stride[d] = a.stride[d];
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    std::int64_t at = 0;
    for (int d = rank - 1; d >= 0; --d) {
      at += row % extent[d] * stride[d];
      row /= extent[d];
    }
    return at;
  }
};

template <class T>
struct first_sink {
  place_of_row<T const> place;
  T const* sinks;
  T* largest;
  T* sum;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    T const s = sinks[place(row)];
    largest[row] = s;
    sum[row] = s == minus_infinity<T> ? T(0) : T(1);
  }
};

/// Starts the softmax of each row with its sink.
template <class Exec, class T>
void begin_with_sinks(Exec const& exec, attended_blocks const& b, score_rule<T> const& rule,
                      running_softmax<T> const& so_far) {
  if (rule.sinks.data == nullptr) return;
  for_each_item("ostraka sinks", exec, b.rows(), b.rows(),
                first_sink<T>{{b.scores, rule.sinks}, rule.sinks.data, so_far.largest, so_far.sum});
}

template <class T>
struct pulled_sink {
  place_of_row<T const> place;
  T const* sinks;
  T const* log_sums;
  T const* result_sums;
  T* pulled;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    T const share = engine::exp(sinks[place(row)] - log_sums[row]);
    pulled[row] = share == T(0) ? T(0) : -share * result_sums[row];
  }
};

/// Turns scores into weights, and cotangents of weights into those of scores. Both are 0 for a hidden pair, even in a
/// row of NaN.
template <class T>
struct pull_scored_row {
  score_rows rows;
  T* scores;
  T* cotangents;
  T const* log_sums;
  T const* result_sums;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    T* const s = scores + row * rows.keys;
    T* const g = cotangents + row * rows.keys;
    std::int64_t const b = rows.in_block(row);
    T const log_sum = log_sums[b], result = result_sums[b];
    for_each_independent(rows.keys, [=](std::int64_t k) {
      T const w = engine::exp(s[k] - log_sum);
      s[k] = s[k] == minus_infinity<T> ? T(0) : w;
    });
    for_each_independent(rows.keys, [=](std::int64_t k) {
      T const pulled = s[k] * (g[k] - result);
      g[k] = s[k] == T(0) ? T(0) : pulled;
    });
  }
  void on_host(std::int64_t row) const { (*this)(row); }
};

template <class T>
struct cotangent_of_product {
  T const* products;  // null without a soft cap
  T* cotangents;
  T scale, cap;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    T const g = cotangents[i];
    if (g == T(0)) return;
    T const t = products == nullptr ? T(0) : engine::tanh(products[i] / cap);
    cotangents[i] = scale * g * (T(1) - t * t);
  }
};

/// Turns cotangents of scores into those of products, and accumulates those of the rule's tensors.
template <class Exec, class T, class Rule, class Pulled>
class scores_puller {
 public:
  using wide = accumulator_of_t<T>;
  using round_type = attention_round<Exec, T, Rule>;

  scores_puller(Exec const& exec, round_type& round, Rule const& rule, Pulled const& pulled, wide scale)
      : exec_(exec),
        round_(round),
        rule_(rule),
        pulled_(pulled),
        scale_(scale),
        products_(rule.soft_cap > wide(0) ? round.most_scores() : 0),
        one_(1) {
    fill(exec, one_.data(), 1, wide(1));
    auto const clear = [&](score_cotangents<wide> const& made) {
      if (made.elements > 0) fill(exec, made.block, made.elements, wide(0));
    };
    clear(pulled.bias);
    clear(pulled.sinks);
    if (rule.soft_cap > wide(0)) round.keep_products(products_.data());
  }

  /// Accumulates the cotangents of sinks. `result_sums`: for each row the sum of its result times its cotangent.
  void pull_sinks(wide const* log_sums, wide const* result_sums) const {
    attended_blocks const& b = round_.blocks();
    if (pulled_.sinks.block == nullptr || b.rows() == 0) return;
    buffer const of_rows(b.rows());
    for_each_item("ostraka cotangents of sinks", exec_, b.rows(), b.rows(),
                  pulled_sink<wide>{{b.scores, rule_.sinks}, rule_.sinks.data, log_sums, result_sums, of_rows.data()});
    labelled const rows = b.scores.without(b.keys);
    add_sums_over(labelled_block<wide const>{rows, of_rows.data()}, pulled_.sinks.met, rows, 0);
    fence_on_host(exec_);
  }

  /// Turns scores of this product into weights, and cotangents of the weights into those of the products.
  void pull(planner::ring_product const& m, std::int64_t home, labelled_block<wide> const& scores,
            labelled_block<wide> const& cotangents, wide const* log_sums, wide const* result_sums) const {
    std::int64_t const n = scores.size();
    score_rows const rows = round_.rows_of(m);
    for_each_score_row("ostraka pull scores", exec_, rows,
                       pull_scored_row<wide>{rows, scores.data, cotangents.data, log_sums, result_sums});
    if (pulled_.bias.block != nullptr && n > 0) {
      score_box const box = round_.box_of(m, home);
      std::int64_t offset = 0;
      for (int d = 0; d < box.rank; ++d) offset += box.begin[d] * pulled_.bias.met.stride[d];
      add_sums_over(readable(cotangents), pulled_.bias.met, scores, offset);
    }
    for_each_item("ostraka cotangents of products", exec_, n, n,
                  cotangent_of_product<wide>{rule_.soft_cap > wide(0) ? products_.data() : nullptr, cotangents.data,
                                             scale_, rule_.soft_cap});
  }

 private:
  using buffer = kernel_scratch<wide, typename Exec::memory_space>;

  // to += from, summed over the axes along which `to` has no stride.
  void add_sums_over(labelled_block<wide const> const& from, aligned<wide> const& to, labelled const& scores,
                     std::int64_t offset) const {
    labelled lies;
    for (int d = 0; d < scores.rank; ++d)
      if (to.stride[d] != 0) {
        lies.add(scores.label[d], scores.extent[d]);
        lies.stride[lies.rank - 1] = to.stride[d];
      }
    multiply(exec_, from, labelled_block<wide const>{labelled{}, one_.data()},
             labelled_block<wide>{lies, to.data + offset}, wide(1), wide(1));
  }

  Exec const& exec_;
  round_type& round_;
  Rule const& rule_;
  Pulled const& pulled_;
  wide scale_;
  buffer products_, one_;
};

/// Does nothing without a rule.
template <class Exec, class T, class Pulled>
class scores_puller<Exec, T, plain_scores, Pulled> {
 public:
  template <class... Given>
  explicit scores_puller(Given const&...) {}
};

}  // namespace detail

}  // namespace ostraka::engine
