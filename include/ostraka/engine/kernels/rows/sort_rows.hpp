// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Sorts rows of a dense block: their elements, the indices of the elements, or the first few of both. The
/// order is total: numbers by size, NaN after all of them, equal elements by their indices. So any algorithm gives a
/// stable sort, and the result is the same everywhere.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/kernels/accumulators/extreme_element.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/rows/row_layout.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// The outputs of sorted rows: the first `kept` of each. Null: not wanted.
template <class T>
struct sorted_output {
  T* values;
  std::int64_t* index;
  std::int64_t kept;
};

namespace detail {

/// Compares ascending, or with Largest descending; NaN, which is larger than all numbers, then comes first.
template <bool Largest, class Value>
struct comes_before {
  KOKKOS_INLINE_FUNCTION static bool less(Value a, Value b) { return a < b || (b != b && a == a); }

  KOKKOS_INLINE_FUNCTION bool operator()(Value a, Value b) const { return Largest ? less(b, a) : less(a, b); }
  KOKKOS_INLINE_FUNCTION bool operator()(indexed<Value> const& a, indexed<Value> const& b) const {
    if ((*this)(a.value, b.value)) return true;
    return !(*this)(b.value, a.value) && a.index() < b.index();
  }
};

/// The type in which elements are compared: float for 16 bits.
template <class T>
using compared_as = typename extreme_element<reduction::max, T>::value;

template <bool Largest, class T>
struct rows_to_sort {
  using value = compared_as<T>;
  using pair = indexed<value>;

  row_layout rows;
  T const* x;
  sorted_output<T> out;

  /// Returns the offset of the k-th element of a sorted row.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t row, std::int64_t k) const {
    return (row / rows.step * out.kept + k) * rows.step + row % rows.step;
  }
  KOKKOS_INLINE_FUNCTION void read(std::int64_t row, pair* to) const {
    T const* const from = x + rows.first(row);
    for (std::int64_t k = 0; k < rows.length; ++k) to[k] = pair::of(value(from[k * rows.step]), k);
  }
  KOKKOS_INLINE_FUNCTION void write(std::int64_t row, pair const* sorted) const {
    T const* const from = x + rows.first(row);
    for (std::int64_t k = 0; k < out.kept; ++k) {
      if (out.values != nullptr) out.values[place(row, k)] = from[sorted[k].index() * rows.step];
      if (out.index != nullptr) out.index[place(row, k)] = sorted[k].index();
    }
  }
};

/// On a device, a thread sorts a row: it merges runs, beginning with single elements, from one buffer to the other.
template <bool Largest, class T>
struct merge_sort_row {
  using pair = typename rows_to_sort<Largest, T>::pair;
  rows_to_sort<Largest, T> in;
  pair* buffers;  // two rows for each row

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const n = in.rows.length;
    comes_before<Largest, typename rows_to_sort<Largest, T>::value> const before;
    pair* from = buffers + 2 * n * row;
    pair* to = from + n;
    in.read(row, from);
    for (std::int64_t run = 1; run < n; run *= 2) {
      for (std::int64_t begin = 0; begin < n; begin += 2 * run) {
        std::int64_t const middle = begin + run < n ? begin + run : n, end = middle + run < n ? middle + run : n;
        std::int64_t i = begin, j = middle;
        for (std::int64_t k = begin; k < end; ++k)
          to[k] = i < middle && (j == end || !before(from[j], from[i])) ? from[i++] : from[j++];
      }
      pair* const sorted = to;
      to = from;
      from = sorted;
    }
    in.write(row, from);
  }
};

/// Runs shares of rows on the host, each with its own buffer of `elements` elements.
template <class Element, class Exec, class F>
void with_row_buffer(char const* name, Exec const& exec, row_layout const& rows, std::int64_t elements, F const& f) {
  std::int64_t const n = rows.count(), worth = rows.size() / serial_elements + 1;
  std::int64_t const most = 4 * static_cast<std::int64_t>(exec.concurrency());
  std::int64_t const shares = std::min({n, worth, most});
  kernel_scratch<Element, Kokkos::HostSpace> const buffers(shares * elements);
  for_each_share(name, exec, n, shares, rows.size(), [&](std::int64_t begin, std::int64_t end, std::int64_t share) {
    for (std::int64_t row = begin; row < end; ++row) f(row, buffers.data() + share * elements);
  });
}

template <bool Largest, class Exec, class T>
void sort_pairs_on_host(Exec const& exec, rows_to_sort<Largest, T> const& in) {
  using pair = typename rows_to_sort<Largest, T>::pair;
  std::int64_t const n = in.rows.length, kept = in.out.kept;
  with_row_buffer<pair>("ostraka sort", exec, in.rows, n, [&](std::int64_t row, pair* pairs) {
    comes_before<Largest, compared_as<T>> const before;
    in.read(row, pairs);
    if (kept <= n / 16) {
      std::partial_sort(pairs, pairs + kept, pairs + n, before);
    } else {
      if (kept < n) std::nth_element(pairs, pairs + kept, pairs + n, before);
      std::sort(pairs, pairs + kept, before);
    }
    in.write(row, pairs);
  });
}

/// Sorts n elements, stably, with a buffer for n more; it allocates nothing.
template <class T, class Before>
void merge_sort(T* x, T* buffer, std::int64_t n, Before const& before) {
  constexpr std::int64_t run = 16;  // shorter runs are sorted by insertion
  for (std::int64_t begin = 0; begin < n; begin += run)
    for (std::int64_t i = begin + 1; i < std::min(begin + run, n); ++i) {
      T const v = x[i];
      std::int64_t at = i;
      for (; at > begin && before(v, x[at - 1]); --at) x[at] = x[at - 1];
      x[at] = v;
    }
  T* from = x;
  T* to = buffer;
  for (std::int64_t width = run; width < n; width *= 2, std::swap(from, to))
    for (std::int64_t begin = 0; begin < n; begin += 2 * width) {
      std::int64_t const middle = std::min(begin + width, n), end = std::min(begin + 2 * width, n);
      std::merge(from + begin, from + middle, from + middle, from + end, to + begin, before);
    }
  if (from != x) std::copy(from, from + n, x);
}

/// Sorts elements without indices. Equal elements keep their order, since they may differ in their bits (0 and −0).
template <class Exec, class T>
void sort_values_on_host(Exec const& exec, row_layout const& rows, T const* x, T* y) {
  auto const before = [](T const& a, T const& b) {
    return comes_before<false, compared_as<T>>()(compared_as<T>(a), compared_as<T>(b));
  };
  std::int64_t const n = rows.length;
  with_row_buffer<T>("ostraka sort", exec, rows, 2 * n, [&](std::int64_t row, T* buffer) {
    std::int64_t const first = rows.first(row);
    T* const sorted = rows.step == 1 ? y + first : buffer + n;
    for (std::int64_t k = 0; k < n; ++k) sorted[k] = x[first + k * rows.step];
    merge_sort(sorted, buffer, n, before);
    if (rows.step != 1)
      for (std::int64_t k = 0; k < n; ++k) y[first + k * rows.step] = sorted[k];
  });
}

}  // namespace detail

/// Writes the first `out.kept` elements of each sorted row of x, ascending or with Largest descending. On the host, it
/// returns when the outputs are written. @pre 0 ≤ kept ≤ length; the outputs are dense, with `kept` in place of the
/// length
template <bool Largest, class Exec, class T>
void sort_rows(Exec const& exec, row_layout const& rows, T const* x, sorted_output<T> const& out) {
  if (rows.count() == 0 || out.kept == 0) return;
  detail::rows_to_sort<Largest, T> const in{rows, x, out};
  if constexpr (runs_on_host<Exec>) {
    if (!Largest && out.index == nullptr && out.kept == rows.length)
      detail::sort_values_on_host(exec, rows, x, out.values);
    else
      detail::sort_pairs_on_host(exec, in);
  } else {
    using pair = typename detail::rows_to_sort<Largest, T>::pair;
    kernel_scratch<pair, typename Exec::memory_space> const buffers(2 * rows.size());
    for_each_item("ostraka sort", exec, rows.count(), rows.size(),
                  detail::merge_sort_row<Largest, T>{in, buffers.data()});
    fence_on_host(exec);
  }
}

}  // namespace ostraka::engine
