// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Draws an element of each row of logits that mesh axes may divide, with softmax probabilities, from all
/// elements or from those that top-k, top-p and min-p keep. No logits move:
///
///     the largest element of a row           an all-reduce of one element and its index
///     thresholds of top-k and of top-p       256 sums for each byte of an element (row_thresholds.hpp)
///     the largest score of the kept ones     an all-reduce of one score and its index
///
/// The random number of an element is a function of the key, the row and the element, so the draw is the same on every
/// mesh, and on devices that hold the same row.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <ostraka/engine/divided_rows/accumulate_rows.hpp>
#include <ostraka/engine/divided_rows/normalise_rows.hpp>
#include <ostraka/engine/divided_rows/row_thresholds.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The token of a row without a distribution.
inline constexpr std::int64_t no_token = -1;

/// How to draw tokens. The default values keep all elements.
struct sampling {
  double temperature = 1;
  std::int64_t top_k = 0;
  double top_p = 1;
  double min_p = 0;

  /// True if the largest element is taken without a draw.
  [[nodiscard]] constexpr bool is_greedy() const { return temperature == 0; }
  /// True if rows of this length need a search for the threshold of top-k.
  [[nodiscard]] constexpr bool counts(std::int64_t elements) const {
    return !is_greedy() && top_k > 0 && top_k < elements;
  }
  /// True if rows need a search for the threshold of top-p.
  [[nodiscard]] constexpr bool weighs() const { return !is_greedy() && top_p < 1; }

  /// The bytes that the all-reduces send for each row.
  template <class T>
  [[nodiscard]] constexpr std::int64_t bytes_of_row(std::int64_t elements) const {
    constexpr auto largest = static_cast<std::int64_t>(sizeof(typename rows_of_logits<T>::largest));
    constexpr auto score = static_cast<std::int64_t>(sizeof(indexed<double>));
    constexpr auto threshold = static_cast<std::int64_t>(sizeof(T) * digit_values * sizeof(std::int64_t));
    return largest + (counts(elements) ? threshold : 0) + (weighs() ? threshold : 0) + (is_greedy() ? 0 : score);
  }
};

namespace detail {

/// Finds the largest score of the kept elements in one part of a row.
template <class T>
struct draw_of_part {
  using best_score = extreme_element<reduction::max, double>;

  rows_of_logits<T> in;
  std::int64_t part;           // elements of a part
  row_threshold const* least;  // null: all elements are kept
  double least_relative;
  std::uint64_t key;
  row_places numbers;         // of elements in the order of rows
  std::int64_t first_number;  // of this device's first element
  std::int64_t first_index;   // its index in its row
  indexed<double>* best;      // by part and row

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    best[i] = best_score::start();
    std::int64_t const row = i % in.rows.count(), begin = i / in.rows.count() * part;
    if (!in.is_distribution(row)) return;
    std::int64_t const end = begin + part < in.rows.length ? begin + part : in.rows.length;
    std::int64_t const number = first_number + numbers.first(row / in.rows.step, row % in.rows.step);
    indexed<double> found = best_score::start();
    for (std::int64_t k = begin; k < end; ++k) {
      T const x = in.element(row, k);
      if (least != nullptr && ordered_bits(x) < least[row].bits) continue;
      double const relative = in.relative(row, x);
      if (relative >= least_relative)
        best_score::take(found, gumbel_score(relative, key, static_cast<std::uint64_t>(number + k)), first_index + k);
    }
    best[i] = found;
  }
};

template <class T, class State>
struct write_token {
  rows_of_logits<T> in;
  State const* chosen;
  std::int64_t* tokens;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    tokens[row] = in.is_distribution(row) ? chosen[row].index() : no_token;
  }
};

/// Finds the thresholds, and returns them in `found`, or null if everything is kept. `counted`: a buffer for the
/// thresholds of top-k during the search for those of top-p.
template <class Exec, class T>
row_threshold const* find_kept(Exec const& exec, execution_context const& w, planner::spec const& s, int along,
                               rows_of_logits<T> const& in, sampling const& how, row_threshold* counted,
                               row_threshold* found) {
  std::int64_t const elements = w.sizes.label[s.label[along]];
  planner::mesh_set const axes = s.over[along].axes();
  row_threshold const* kept = nullptr;
  if (how.counts(elements)) {
    find_thresholds(exec, w, s, axes, in, {false, how.top_k, 0, 0}, nullptr, counted);
    kept = counted;
  }
  if (how.weighs()) {
    int bits = 0;  // bits of the number of elements; the sum of their weights then fits 63 bits
    while (elements >> bits > 0) ++bits;
    find_thresholds(exec, w, s, axes, in, {true, 0, how.top_p, std::ldexp(1.0, std::min(50, 62 - bits))}, kept, found);
    kept = found;
  }
  return kept;
}

/// best[row] <- the largest score of this device's elements.
template <class Exec, class T>
void draw_on_device(Exec const& exec, execution_context const& w, planner::spec const& s, int along,
                    rows_of_logits<T> const& in, sampling const& how, std::uint64_t key, row_threshold const* kept,
                    indexed<double>* best) {
  using best_score = typename draw_of_part<T>::best_score;
  constexpr std::int64_t part = runs_on_host<Exec> ? 4096 : 64;
  std::int64_t const rows = in.rows.count(), parts = (in.rows.length + part - 1) / part;
  if (parts == 0) return for_each_item("ostraka no scores", exec, rows, rows, start_states<best_score>{best});
  std::int64_t stride[max_rank + 1]{}, first_number = 0, step = w.sizes.label[s.label[along]];
  stride[along] = 1;
  for (int d = s.rank - 1; d >= 0; --d) {
    if (d != along) {
      stride[d] = step;
      step *= w.sizes.label[s.label[d]];
    }
    first_number += planner::range_of(s, d, w.here, w.sizes).begin * stride[d];
  }
  kernel_scratch<indexed<double>, typename Exec::memory_space> const scores(parts * rows);
  double const least = std::max(std::log(how.min_p), std::numeric_limits<double>::lowest());
  draw_of_part<T> const draw{in,
                             part,
                             kept,
                             least,
                             key,
                             places_of_rows(w, s, along, stride),
                             first_number,
                             planner::range_of(s, along, w.here, w.sizes).begin,
                             parts == 1 ? best : scores.data()};
  for_each_item("ostraka scores", exec, parts * rows, in.rows.size(), draw);
  if (parts > 1)
    for_each_item("ostraka largest scores", exec, rows, parts * rows,
                  combine_parts<best_score>{scores.data(), best, parts, rows});
}

}  // namespace detail

/// tokens[row] <- the index of an element of each row of this device's block of `s`, drawn by the options `how`;
/// no_token for a row without a distribution: one with NaN, with −∞ only, or without elements. `rows`: the tensor of
/// the rows. Collective over the mesh axes that divide dimension `along`.
template <class Exec, class T>
void sample_rows(Exec const& exec, execution_context const& w, planner::spec const& s, planner::spec const& rows,
                 int along, T const* x, sampling const& how, std::uint64_t key, std::int64_t* tokens) {
  using most = extreme_element<reduction::max, T>;
  using memory = typename Exec::memory_space;
  if (w.mesh->absent()) return;
  row_layout const layout = rows_in(w, s, along, x).rows;
  profiled const region_of_run(
      w, [&] { push_blocks(w.operation, s, w.names, "reads", layout.size() * static_cast<std::int64_t>(sizeof(T))); });
  std::int64_t const count = layout.count();
  planner::mesh_set const axes = s.over[along].axes();
  if (!axes.empty())
    require_same_call<T>(w, s, axes, [&] {
      return join_text(how.is_greedy() ? "the largest" : "one at random", how.top_k > 0 ? ", with top_k" : "",
                       how.weighs() ? ", with top_p" : "");
    });
  kernel_scratch<typename most::state, memory> const largest(count);
  accumulate<most>(exec, loops_to_rows(w, s, rows), x, largest.data());
  if (!axes.empty()) combine_rows<T>(exec, w, s, axes, largest.data(), count, combine_states_of<most>{});
  rows_of_logits<T> const in{layout, x, largest.data(), how.temperature};
  if (how.is_greedy()) {
    for_each_item("ostraka tokens", exec, count, count,
                  detail::write_token<T, typename most::state>{in, largest.data(), tokens});
    return fence_on_host(exec);
  }
  kernel_scratch<row_threshold, memory> const counted(count), found(count);
  kernel_scratch<indexed<double>, memory> const best(count);
  row_threshold const* const kept = detail::find_kept(exec, w, s, along, in, how, counted.data(), found.data());
  detail::draw_on_device(exec, w, s, along, in, how, key, kept, best.data());
  if (!axes.empty())
    combine_rows<T>(exec, w, s, axes, best.data(), count,
                    combine_states_of<typename detail::draw_of_part<T>::best_score>{});
  for_each_item("ostraka tokens", exec, count, count, detail::write_token<T, indexed<double>>{in, best.data(), tokens});
  fence_on_host(exec);
}

}  // namespace ostraka::engine
