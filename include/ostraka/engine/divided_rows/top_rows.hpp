// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The k largest elements of rows that mesh axes divide, and their indices. Each device finds the k largest
/// elements of its part of a row; an all-gather collects these candidates, and each device ranks them. Parts are
/// sorted, so the rank of a candidate is its position in its part plus the number of candidates before it in each other
/// part. The order is the total order of sort_rows.hpp, so the result is the same on all devices and on every mesh.
///
///     [I, V_Y]    k elements and indices a row from each device along Y    →    [I, K] on all of them

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/kernels/rows/sort_rows.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// An element of a row and its index, as devices send them.
template <class T>
using row_candidate = indexed<detail::compared_as<T>>;

namespace detail {

/// The position of the k-th of the `kept` elements of a row.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t kept_place(row_layout const& rows, std::int64_t kept,
                                                             std::int64_t row, std::int64_t k) {
  return (row / rows.step * kept + k) * rows.step + row % rows.step;
}

/// Writes this device's candidates, by row and rank; fills up a part that has too few with elements without an index.
template <class T>
struct write_candidates {
  row_layout rows;
  T const* values;
  std::int64_t const* index;
  std::int64_t kept, wanted;
  std::int64_t begin;  // of this device's elements of a row
  row_candidate<T>* to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t const row = i / wanted, k = i % wanted;
    if (k >= kept) {
      to[i] = row_candidate<T>::of(compared_as<T>(0), row_candidate<T>::nowhere);
    } else {
      std::int64_t const at = kept_place(rows, kept, row, k);
      to[i] = row_candidate<T>::of(compared_as<T>(values[at]), begin + index[at]);
    }
  }
};

/// Writes a candidate at its rank, if that is below `wanted`.
template <class T>
struct rank_candidate {
  row_layout rows;
  row_candidate<T> const* all;  // by member, row and rank
  std::int64_t members, wanted;
  T* values;
  std::int64_t* index;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    row_candidate<T> const own = all[i];
    if (own.index() == row_candidate<T>::nowhere) return;
    std::int64_t const count = rows.count(), row = i / wanted % count, member = i / wanted / count;
    std::int64_t rank = i % wanted;
    for (std::int64_t d = 0; d < members && rank < wanted; ++d)
      if (d != member) rank += before(all + (d * count + row) * wanted, own);
    if (rank >= wanted) return;
    std::int64_t const at = kept_place(rows, wanted, row, rank);
    values[at] = static_cast<T>(own.value);
    index[at] = own.index();
  }

 private:
  // Returns the number of elements of a part that come before an element.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t before(row_candidate<T> const* part,
                                                           row_candidate<T> const& element) const {
    comes_before<true, compared_as<T>> const is_before;
    std::int64_t begin = 0, end = wanted;
    while (begin < end) {
      std::int64_t const middle = begin + (end - begin) / 2;
      bool const is = part[middle].index() != row_candidate<T>::nowhere && is_before(part[middle], element);
      begin = is ? middle + 1 : begin;
      end = is ? end : middle;
    }
    return begin;
  }
};

}  // namespace detail

/// values, index <- the k largest of each whole row of this device's block of `s`, largest first, and their indices in
/// the row. Both are dense, with k in place of the row's length. Collective over the mesh axes that divide dimension
/// `along`. @pre whole rows have k elements or more
template <class Exec, class T>
void top_rows(Exec const& exec, execution_context const& w, planner::spec const& s, int along, T const* x,
              std::int64_t k, T* values, std::int64_t* index) {
  if (w.mesh->absent()) return;
  std::int64_t extents[max_rank + 1]{};
  for (int i = 0; i < s.rank; ++i) extents[i] = planner::range_of(s, i, w.here, w.sizes).size();
  row_layout const rows = rows_along(extents, s.rank, along);
  profiled const region_of_run(
      w, [&] { push_blocks(w.operation, s, w.names, "reads", rows.size() * static_cast<std::int64_t>(sizeof(T))); });
  planner::mesh_set const axes = s.over[along].axes();
  communicator const& members = w.group(axes);
  std::int64_t const n = members.size(), count = rows.count(), kept = std::min(rows.length, k);
  using memory = typename Exec::memory_space;
  kernel_scratch<T, memory> const own(count * kept);
  kernel_scratch<std::int64_t, memory> const places(count * kept);
  sort_rows<true>(exec, rows, x, sorted_output<T>{own.data(), places.data(), kept});
  std::int64_t const part = count * k;
  kernel_scratch<row_candidate<T>, memory> const all(n * part);
  detail::write_candidates<T> const candidates{rows,
                                               own.data(),
                                               places.data(),
                                               kept,
                                               k,
                                               planner::range_of(s, along, w.here, w.sizes).begin,
                                               all.data() + members.rank() * part};
  for_each_item("ostraka candidates", exec, part, part, candidates);
  fence_before_messages(exec);
  require_same_call<T>(w, s, axes, [&] { return join_text("the largest ", k); });
  arrays_of<Exec> arrays(exec);
  if (n > 1 && part > 0) {
    constexpr auto words = static_cast<std::int64_t>(sizeof(row_candidate<T>) / sizeof(std::int32_t));
    short_array<std::int64_t> const counts(static_cast<std::size_t>(n), [&](std::size_t) { return part * words; });
    auto* const message = reinterpret_cast<std::int32_t*>(all.data());
    all_gather(members, arrays, static_cast<std::int32_t const*>(message + members.rank() * part * words), message,
               counts);
  }
  detail::rank_candidate<T> const ranked{rows, all.data(), n, k, values, index};
  for_each_item("ostraka ranks of candidates", exec, n * part, n * part, ranked);
  fence_on_host(exec, arrays);
}

}  // namespace ostraka::engine
