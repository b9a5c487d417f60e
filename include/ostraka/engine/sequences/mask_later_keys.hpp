// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The causal mask on a block of scores[…, Q, …, K]: −infinity if the key comes after the query. Positions are
/// global indices, which a device knows for any division of Q and K, or the positions of striped sequences. It writes
/// only hidden elements.

#include <cstdint>

#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/rows/row_statistics.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/engine/sequences/position_at.hpp>
#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

namespace detail {

/// Row `row` of a block: the scores of one query. It sees keys up to its own position.
template <class T>
struct later_keys_mask {
  T* scores;
  std::int64_t inner;    ///< consecutive rows of the same query
  std::int64_t queries;  ///< of the block
  std::int64_t keys;     ///< of the block
  std::int64_t seen;     ///< keys of the block that its first query sees; may be negative, or exceed `keys`

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t visible_keys(std::int64_t row) const {
    std::int64_t const n = seen + row / inner % queries;
    return n < 0 ? 0 : n < keys ? n : keys;
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i % keys >= visible_keys(i / keys)) hide(i);
  }

  KOKKOS_INLINE_FUNCTION void hide(std::int64_t i) const {
    scores[i] = static_cast<T>(minus_infinity<accumulator_of_t<T>>);
  }
};

/// The same for striped queries and keys: each chunk of keys is seen up to the query's position.
template <class T>
struct later_stripes_mask {
  T* scores;
  std::int64_t inner, from;
  planner::range queries, keys;
  position_at of_query, of_key;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row) const {
    return of_query(queries.begin + row / inner % (queries.end - queries.begin)) + from;
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t const n = keys.end - keys.begin;
    if (of_key(keys.begin + i % n) > position(i / n)) hide(i);
  }

  KOKKOS_INLINE_FUNCTION void hide(std::int64_t i) const {
    scores[i] = static_cast<T>(minus_infinity<accumulator_of_t<T>>);
  }

  void hide_in_row(std::int64_t row) const {
    std::int64_t const seen = position(row) + 1, n = keys.size();
    for (std::int64_t key = 0; key < n;) {
      std::int64_t const index = keys.begin + key, rest = of_key.chunk - index % of_key.chunk;
      std::int64_t const end = key + (rest < n - key ? rest : n - key), first = key + (seen - of_key(index));
      for (key = first < key ? key : first; key < end; ++key) hide(row * n + key);
      key = end;
    }
  }
};

}  // namespace detail

/// scores <- −infinity where the key's position is above the query's + `from`. `scores`: this device's block of `s`,
/// dense, keys along its last dimension, queries along `queries`. `stripes`: the number of devices over which both
/// sequences are striped, or 0.
template <class Exec, class T>
void mask_later_keys(Exec const& exec, execution_context const& w, planner::spec const& s, int queries,
                     std::int64_t from, T* scores, std::int64_t stripes = 0) {
  profiled const region_of_run(w, [&] {
    push_blocks(w.operation, s, w.names, "writes",
                planner::block_size(s, w.here, w.sizes) * static_cast<std::int64_t>(sizeof(T)));
  });
  planner::range const q = planner::range_of(s, queries, w.here, w.sizes);
  planner::range const k = planner::range_of(s, s.rank - 1, w.here, w.sizes);
  std::int64_t const elements = planner::block_size(s, w.here, w.sizes);
  if (elements == 0) return;
  detail::later_keys_mask<T> hide{scores, 1, q.size(), k.size(), q.begin + from + 1 - k.begin};
  for (int d = queries + 1; d < s.rank - 1; ++d) hide.inner *= planner::range_of(s, d, w.here, w.sizes).size();
  if (stripes > 1) {
    auto const order_of = [&](int d) { return planner::stripes{w.sizes.label[s.label[d]], stripes}; };
    detail::later_stripes_mask<T> const hide_chunks{
        scores, hide.inner, from, q, k, position_at(order_of(queries)), position_at(order_of(s.rank - 1))};
    if constexpr (runs_on_host<Exec>) {
      std::int64_t const shares = (elements + serial_elements - 1) / serial_elements;
      for_each_share("ostraka causal mask", exec, elements / k.size(), shares, elements,
                     [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                       for (std::int64_t row = begin; row < end; ++row) hide_chunks.hide_in_row(row);
                     });
    } else {
      for_each_item("ostraka causal mask", exec, elements, elements, hide_chunks);
      fence_on_host(exec);
    }
    return;
  }
  if constexpr (runs_on_host<Exec>) {
    auto const run = [&hide](std::int64_t begin, std::int64_t end, std::int64_t) {
      for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t key = hide.visible_keys(row); key < hide.keys; ++key) hide.hide(row * hide.keys + key);
    };
    std::int64_t const shares = (elements + serial_elements - 1) / serial_elements;
    for_each_share("ostraka causal mask", exec, elements / k.size(), shares, elements, run);
  } else {
    for_each_item("ostraka causal mask", exec, elements, elements, hide);
    fence_on_host(exec);
  }
}

}  // namespace ostraka::engine
