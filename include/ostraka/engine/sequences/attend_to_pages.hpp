// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Attention of rows to keys and values in pages, on this device's block (PagedAttention: Kwon et al., 2023).
/// A row is one query of one head. It reads the pages of its own positions in place, and no others:
///
///     key p of row b:  slot p mod S of page table[b, p / S],   max(0, t_b − w + 1) ≤ p ≤ t_b
///
/// If pages are divided, each device weighs the keys in its own pages, and a merge of the rows' states follows.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <ostraka/engine/blocks/index_blocks.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/rows/row_statistics.hpp>
#include <ostraka/engine/run/report_run.hpp>
#include <ostraka/plan/attention/attention_tiles.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

/// The operands, aligned with the rows: the queries without their width, which is the last dimension of queries, keys
/// and values.
template <class T, class Page, class Position>
struct paged_attention {
  using wide = accumulator_of_t<T>;
  int rank = 0;
  std::int64_t extent[max_rank]{};
  int order[max_rank]{};           ///< the dimensions of rows in loop order on the host, outermost first
  aligned<T const> q{}, k{}, v{};  ///< k, v: the first slot of the first page
  aligned<Page const> table{};
  aligned<Position const> positions{};
  std::int64_t width = 0, slots = 0, next_entry = 0;
  index_window key_pages{}, value_pages{};  ///< this device's pages
  std::int64_t key_slot = 0, value_slot = 0;
  int queries = 0;                   ///< the dimension along which positions follow each other
  std::int64_t first_query = 0;      ///< the global index of this device's first query
  planner::paged_queries request{};  ///< the rule by which queries see keys, and known facts about each request's work
  wide scale = 1;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t rows() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extent[d];
    return n;
  }
};

namespace detail {

/// The operands of one row.
template <class T, class Page>
struct row_of_pages {
  std::int64_t number = 0;  ///< of the row, in the order of the result
  T const* q;
  T const* k;
  T const* v;
  Page const* table;
  std::int64_t first, begin, end;  ///< the row sees positions [0, first) and [begin, end)
};

template <class T, class Page, class Position>
struct attend_row_to_pages {
  using wide = accumulator_of_t<T>;
  static constexpr std::int64_t tile = 256;  ///< number of keys whose scores are kept at once
  paged_attention<T, Page, Position> a;
  wide* weighted;  ///< [rows, width]
  exp_sum<wide>* states;
  wide* largest;  ///< the score to which the weighted values of a row are relative

  /// Returns row `item` in loop order.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION row_of_pages<T, Page> row_at(std::int64_t item) const {
    std::int64_t index[max_rank]{}, query = a.first_query;
    for (int i = a.rank - 1; i >= 0; --i) {
      int const d = a.order[i];
      index[d] = item % a.extent[d];
      item /= a.extent[d];
    }
    row_of_pages<T, Page> r{0, a.q.data, a.k.data, a.v.data, a.table.data, 0, 0, 0};
    Position const* position = a.positions.data;
    for (int d = 0; d < a.rank; ++d) {
      r.number = r.number * a.extent[d] + index[d];
      r.q += index[d] * a.q.stride[d];
      r.k += index[d] * a.k.stride[d];
      r.v += index[d] * a.v.stride[d];
      r.table += index[d] * a.table.stride[d];
      position += index[d] * a.positions.stride[d];
      if (d == a.queries) query += index[d];
    }
    r.end = static_cast<std::int64_t>(*position) + query + 1;
    planner::seen_positions const& seen = a.request.seen;
    r.begin = r.end - seen.window < 0 ? 0 : r.end - seen.window;
    r.first = seen.first < r.begin ? seen.first : r.begin;
    return r;
  }

  /// Calls f(first key, first value, n) for the runs of this device's slots at positions [begin, end).
  template <class F>
  KOKKOS_INLINE_FUNCTION void for_each_run(row_of_pages<T, Page> const& r, std::int64_t begin, std::int64_t end,
                                           F const& f) const {
    for (std::int64_t p = begin; p < end;) {
      std::int64_t const slot = p % a.slots, left = a.slots - slot, n = left < end - p ? left : end - p;
      Page const page = r.table[p / a.slots * a.next_entry];
      std::int64_t const at_key = a.key_pages.find(page), at_value = a.value_pages.find(page);
      if (at_key >= 0) f(r.k + at_key + slot * a.key_slot, r.v + at_value + slot * a.value_slot, n);
      p += n;
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const {
    row_of_pages<T, Page> const r = row_at(item);
    wide* const o = weighted + r.number * a.width;
    for (std::int64_t e = 0; e < a.width; ++e) o[e] = 0;
    exp_sum<wide> state;
    auto const weigh = [&](T const* k, T const* v, std::int64_t n) {
      for (std::int64_t s = 0; s < n; ++s, k += a.key_slot, v += a.value_slot) {
        wide score = 0;
        for (std::int64_t e = 0; e < a.width; ++e) score += static_cast<wide>(r.q[e]) * static_cast<wide>(k[e]);
        score *= a.scale;
        if (state.largest < score) {
          wide const factor = engine::exp(state.largest - shift_of(score));
          state.largest = score;
          state.sum *= factor;
          for (std::int64_t e = 0; e < a.width; ++e) o[e] *= factor;
        }
        wide const w = engine::exp(score - state.shift());
        state.sum += w;
        for (std::int64_t e = 0; e < a.width; ++e) o[e] += w * static_cast<wide>(v[e]);
      }
    };
    for_each_run(r, 0, r.first, weigh);
    for_each_run(r, r.begin, r.end, weigh);
    states[r.number] = state;
    largest[r.number] = state.largest;
  }

  /// The same with vector instructions. `buffer` has space for `tile` scores and a query.
  void on_host(std::int64_t item, wide* buffer) const {
    row_of_pages<T, Page> const r = row_at(item);
    wide* const o = weighted + r.number * a.width;
    for_each_independent(a.width, [=](std::int64_t e) { o[e] = 0; });
    wide* const q = buffer + tile;
    for_each_independent(a.width,
                         [=, from = r.q, c = a.scale](std::int64_t e) { q[e] = c * static_cast<wide>(from[e]); });
    exp_sum<wide> state;
    for (std::int64_t p = r.first > 0 ? 0 : r.begin, end; p < r.end; p = end == r.first ? r.begin : end) {
      std::int64_t const last = p < r.first ? r.first : r.end;
      end = last - p < tile ? last : p + tile;
      wide* score = buffer;
      for_each_run(r, p, end, [&](T const* k, T const*, std::int64_t n) {
        for (std::int64_t s = 0; s < n; ++s, k += a.key_slot)
          *score++ = sum_of_run<false, wide>(a.width, [=](std::int64_t e) { return q[e] * static_cast<wide>(k[e]); });
      });
      std::int64_t const n = score - buffer;
      wide const highest = largest_of_run(buffer, n);
      if (state.largest < highest) {
        wide const factor = engine::exp(state.largest - shift_of(highest));
        state.largest = highest;
        state.sum *= factor;
        for_each_independent(a.width, [=](std::int64_t e) { o[e] *= factor; });
      }
      for_each_independent(n,
                           [=, shift = state.shift()](std::int64_t i) { buffer[i] = engine::exp(buffer[i] - shift); });
      state.sum += sum_of_run<false, wide>(n, [=](std::int64_t i) { return buffer[i]; });
      wide const* w = buffer;
      for_each_run(r, p, end, [&](T const*, T const* v, std::int64_t m) {
        add_weighted(o, w, v, m);
        w += m;
      });
    }
    states[r.number] = state;
    largest[r.number] = state.largest;
  }

 private:
  // o += Σ w[s] v[s], four slots at a time.
  [[gnu::always_inline]] void add_weighted(wide* o, wide const* w, T const* v, std::int64_t n) const {
    std::int64_t const step = a.value_slot;
    for (; n >= 4; n -= 4, w += 4, v += 4 * step)
      for_each_independent(a.width, [=, w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3]](std::int64_t e) {
        o[e] += (w0 * static_cast<wide>(v[e]) + w1 * static_cast<wide>(v[step + e])) +
                (w2 * static_cast<wide>(v[2 * step + e]) + w3 * static_cast<wide>(v[3 * step + e]));
      });
    for (; n > 0; --n, ++w, v += step)
      for_each_independent(a.width, [=, w0 = *w](std::int64_t e) { o[e] += w0 * static_cast<wide>(v[e]); });
  }
};

/// Counts and reports the flops of the rows, and the keys and values that they read.
template <class T, class Page, class Position>
[[gnu::cold, gnu::noinline]] void count_flops_of_pages(paged_attention<T, Page, Position> const& a) {
  planner::range const queries{a.first_query, a.first_query + a.extent[a.queries]};
  std::int64_t const flops = 4 * a.width * a.rows() / queries.size() * a.request.pairs(queries);
  std::int64_t caches = 1;
  for (int d = 0; d < a.rank; ++d)
    if (d != a.queries && (a.k.stride[d] != 0 || a.table.stride[d] != 0)) caches *= a.extent[d];
  if (counted_flops != nullptr) *counted_flops += flops;
  if (has_listeners())
    report_computed(flops, 2 * a.width * caches * a.request.keys(queries) * int{sizeof(T)}, int{sizeof(T)});
}

template <class T>
struct finish_row_of_pages {
  T const* own;
  exp_sum<T> const* whole;
  T* weighted;
  std::int64_t width;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    T const largest = own[row], all = whole[row].largest;
    T const factor = (largest == all ? T(1) : engine::exp(largest - shift_of(all))) / whole[row].sum;
    T const part = whole[row].sum == T(0) ? T(0) : factor;
    T* const o = weighted + row * width;
    for_each_independent(width, [=](std::int64_t e) { o[e] *= part; });
  }
};

}  // namespace detail

/// weighted[row] <- Σ exp(score − m) · value over this device's keys that the row sees; largest[row] <- m; states[row]
/// <- m and Σ exp(score − m). On the host, it returns when all results are written. @pre table and positions are in
/// range
template <class Exec, class T, class Page, class Position>
void attend_to_pages(Exec const& exec, paged_attention<T, Page, Position> a, accumulator_of_t<T>* weighted,
                     exp_sum<accumulator_of_t<T>>* states, accumulator_of_t<T>* largest) {
  using wide = accumulator_of_t<T>;
  std::int64_t const rows = a.rows();
  if (rows == 0) return;
  if (counts_flops()) detail::count_flops_of_pages(a);
  // Rows that read the same keys are consecutive.
  int at = 0;
  for (bool const reads : {true, false})
    for (int d = 0; d < a.rank; ++d)
      if ((a.k.stride[d] != 0) == reads) a.order[at++] = d;
  using attend_row = detail::attend_row_to_pages<T, Page, Position>;
  attend_row const row{a, weighted, states, largest};
  if constexpr (runs_on_host<Exec>) {
    std::int64_t const cores = exec.concurrency(), shares = rows < 4 * cores ? rows : 4 * cores;
    std::int64_t const room = attend_row::tile + a.width;
    kernel_scratch<wide, typename Exec::memory_space> const buffers(shares * room);
    // The number of pages that a row reads is unknown here; the table bounds it.
    for_each_share("ostraka attention to pages", exec, rows, shares, rows * a.width * a.slots,
                   [&row, all = buffers.data(), room](std::int64_t begin, std::int64_t end, std::int64_t share) {
                     detail::with_wide_vectors([&row, buffer = all + share * room, begin, end] {
                       for (std::int64_t r = begin; r < end; ++r) row.on_host(r, buffer);
                     });
                   });
  } else {
    for_each_item("ostraka attention to pages", exec, rows, rows * a.width * a.slots, row);
  }
  fence_on_host(exec);
}

/// Divides the weighted values of each row by its sum over all devices. `own`: the scores to which they are relative;
/// `whole`: the merged states of all devices. A row that sees no key becomes zeros.
template <class Exec, class T>
void finish_pages(Exec const& exec, std::int64_t rows, std::int64_t width, T const* own, exp_sum<T> const* whole,
                  T* weighted) {
  for_each_item("ostraka finish attention to pages", exec, rows, rows * width,
                detail::finish_row_of_pages<T>{own, whole, weighted, width});
  fence_on_host(exec);
}

}  // namespace ostraka::engine
