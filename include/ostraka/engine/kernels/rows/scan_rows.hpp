// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Running sums (products, maxima, minima) along the rows of a dense block: y[k] = x[0] + … + x[k]. A sum
/// waits for the one before it, so that several run side by side: of short rows eight, of a long row the eight segments
/// of a piece that stays in the cache, whose totals are found first. Rows that lie across go together, k by k. How sums
/// are put together depends on the extents alone, not on the number of threads. 16 bits are summed as floats.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/rows/row_layout.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// How a running sum goes.
struct scan_direction {
  bool exclusive = false;  ///< y[k] is the sum of those before x[k]
  bool reverse = false;    ///< from the last to the first
};

namespace detail {

inline constexpr int scan_chains = 4;  // as many as have registers for where they read and write
inline constexpr std::int64_t scan_segment = 2048;
inline constexpr std::int64_t scan_piece = scan_chains * scan_segment;
inline constexpr std::int64_t scan_columns = 256;  // rows that lie across and go together

/// Rows of a block, each with what comes before it.
template <reduction How, class T>
struct scanned_rows {
  using sum = accumulator_of_t<T>;

  row_layout rows;
  scan_direction direction;
  T const* x;
  T* y;              // null: totals alone
  sum* totals;       // of rows; null: nobody asks
  sum const* start;  // of rows; null: nothing comes before
  sum nothing;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t toward() const { return direction.reverse ? -1 : 1; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t k) const {
    return direction.reverse ? rows.length - 1 - k : k;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION sum start_of(std::int64_t row) const {
    return start == nullptr ? nothing : start[row];
  }

  /// One row, one element after the other: a device's thread.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const first = rows.first(row);
    sum s = start_of(row);
    for (std::int64_t k = 0; k < rows.length; ++k) {
      std::int64_t const at = first + place(k) * rows.step;
      sum const before = s;
      s = combine(How, s, sum(x[at]));
      if (y != nullptr) y[at] = T(direction.exclusive ? before : s);
    }
    if (totals != nullptr) totals[row] = s;
  }

  // ---- on the host ----

  /// Chains of `count` elements, the c-th from from[c] on.
  template <int Chains>
  void run_chains(std::int64_t const (&from)[Chains], sum (&s)[Chains], std::int64_t count) const {
    bool const before = direction.exclusive;
    std::int64_t const step = toward();
    sum running[Chains];  // local, so that what is stored is none of them
    T const* read[Chains];
    T* write[Chains];
    for (int c = 0; c < Chains; ++c) running[c] = s[c], read[c] = x + from[c], write[c] = y + from[c];
    for (std::int64_t k = 0, at = 0; k < count; ++k, at += step)
      for (int c = 0; c < Chains; ++c) {
        sum const next = combine(How, running[c], sum(read[c][at]));
        write[c][at] = T(before ? running[c] : next);
        running[c] = next;
      }
    for (int c = 0; c < Chains; ++c) s[c] = running[c];
  }

  /// The total of `count` elements that lie side by side from `first` on.
  [[nodiscard]] sum total_of(std::int64_t first, std::int64_t count) const {
    constexpr int lanes = 32;
    sum part[lanes];
    for (int l = 0; l < lanes; ++l) part[l] = nothing;
    T const* const from = x + first;
    with_wide_vectors([&part, from, count] {
      std::int64_t k = 0;
      for (; k + lanes <= count; k += lanes)
        for (int l = 0; l < lanes; ++l) part[l] = combine(How, part[l], sum(from[k + l]));
      for (; k < count; ++k) part[0] = combine(How, part[0], sum(from[k]));
    });
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) part[l] = combine(How, part[l], part[half + l]);
    return part[0];
  }

  /// Where `count` elements from the k-th on begin in memory.
  [[nodiscard]] std::int64_t lowest(std::int64_t row, std::int64_t k, std::int64_t count) const {
    return rows.first(row) + (direction.reverse ? rows.length - k - count : k);
  }

  [[nodiscard]] std::int64_t pieces() const { return (rows.length + scan_piece - 1) / scan_piece; }

  /// Piece p of a long row, before which comes `s`; its own total is returned.
  sum run_piece(std::int64_t row, std::int64_t p, sum s) const {
    std::int64_t const begin = p * scan_piece;
    std::int64_t const count = rows.length - begin < scan_piece ? rows.length - begin : scan_piece;
    std::int64_t const segment = count / scan_chains, last = count - (scan_chains - 1) * segment;
    std::int64_t from[scan_chains];
    sum before[scan_chains], total = nothing;
    for (int c = 0; c < scan_chains; ++c) {
      std::int64_t const k = begin + c * segment, n = c + 1 < scan_chains ? segment : last;
      from[c] = rows.first(row) + place(k);
      before[c] = combine(How, s, total);
      total = combine(How, total, total_of(lowest(row, k, n), n));
    }
    if (y == nullptr) return total;
    run_chains(from, before, segment);
    std::int64_t const rest[1] = {from[scan_chains - 1] + segment * toward()};
    sum before_rest[1] = {before[scan_chains - 1]};
    run_chains(rest, before_rest, last - segment);
    return total;
  }

  void run_long_row(std::int64_t row) const {
    sum s = start_of(row);
    for (std::int64_t p = 0; p < pieces(); ++p) s = combine(How, s, run_piece(row, p, s));
    if (totals != nullptr) totals[row] = s;
  }

  /// Rows [row, row + Rows) that lie one after the other.
  template <int Rows>
  void run_short_rows(std::int64_t row) const {
    std::int64_t from[Rows];
    sum s[Rows];
    for (int r = 0; r < Rows; ++r) from[r] = rows.first(row + r) + place(0), s[r] = start_of(row + r);
    if (y != nullptr)
      run_chains(from, s, rows.length);
    else
      for (int r = 0; r < Rows; ++r) s[r] = combine(How, s[r], total_of(rows.first(row + r), rows.length));
    if (totals != nullptr)
      for (int r = 0; r < Rows; ++r) totals[row + r] = s[r];
  }

  /// Rows [row, row + n) of one group, which lie across.
  void run_columns(std::int64_t row, std::int64_t n) const {
    sum s[scan_columns];
    for (std::int64_t i = 0; i < n; ++i) s[i] = start_of(row + i);
    std::int64_t const first = rows.first(row), step = toward() * rows.step;
    T const* const from = x + first + place(0) * rows.step;
    T* const to = y == nullptr ? nullptr : y + first + place(0) * rows.step;
    bool const before = direction.exclusive;
    with_wide_vectors([&s, this, from, to, n, step, before] {
      sum* __restrict const sums = s;  // local, so that what is stored is none of what the loops read
      std::int64_t const count = n, length = rows.length;
      bool const is_exclusive = before;
      T const* x_k = from;
      T* y_k = to;
      for (std::int64_t k = 0; k < length; ++k, x_k += step) {
        if (y_k == nullptr) {
          for (std::int64_t i = 0; i < count; ++i) sums[i] = combine(How, sums[i], sum(x_k[i]));
          continue;
        }
        for (std::int64_t i = 0; i < count; ++i) {
          sum const next = combine(How, sums[i], sum(x_k[i]));
          y_k[i] = T(is_exclusive ? sums[i] : next);
          sums[i] = next;
        }
        y_k += step;
      }
    });
    if (totals != nullptr)
      for (std::int64_t i = 0; i < n; ++i) totals[row + i] = s[i];
  }
};

/// Few long rows for several threads: the totals of all pieces first.
template <class Exec, reduction How, class T>
void scan_pieces(Exec const& exec, scanned_rows<How, T> const& scan) {
  using sum = typename scanned_rows<How, T>::sum;
  std::int64_t const pieces = scan.pieces(), n = scan.rows.count();
  kernel_scratch<sum, Kokkos::HostSpace> const before(pieces * n);
  scanned_rows<How, T> totals = scan;
  totals.y = nullptr;
  for_each_item("ostraka totals of pieces", exec, pieces * n, scan.rows.size(),
                [&](std::int64_t i) { before.data()[i] = totals.run_piece(i / pieces, i % pieces, scan.nothing); });
  for (std::int64_t row = 0; row < n; ++row) {
    sum s = scan.start_of(row);
    for (std::int64_t p = 0; p < pieces; ++p) {
      sum const total = before.data()[row * pieces + p];
      before.data()[row * pieces + p] = s;
      s = combine(How, s, total);
    }
    if (scan.totals != nullptr) scan.totals[row] = s;
  }
  if (scan.y == nullptr) return;
  for_each_item("ostraka scan pieces", exec, pieces * n, scan.rows.size(),
                [&](std::int64_t i) { static_cast<void>(scan.run_piece(i / pieces, i % pieces, before.data()[i])); });
}

template <class Exec, reduction How, class T>
void scan_on_host(Exec const& exec, scanned_rows<How, T> const& scan) {
  row_layout const& rows = scan.rows;
  auto const in_shares = [&](std::int64_t tasks, auto const& task) {
    std::int64_t const worth = rows.size() / serial_elements + 1;
    for_each_share("ostraka scan", exec, tasks, worth < tasks ? worth : tasks, rows.size(),
                   [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                     for (std::int64_t i = begin; i < end; ++i) task(i);
                   });
  };
  if (rows.step > 1) {
    std::int64_t const pieces = (rows.step + scan_columns - 1) / scan_columns;
    in_shares(rows.outer * pieces, [&](std::int64_t i) {
      std::int64_t const first = i % pieces * scan_columns, left = rows.step - first;
      scan.run_columns(i / pieces * rows.step + first, left < scan_columns ? left : scan_columns);
    });
  } else if (rows.length < scan_segment) {
    in_shares((rows.outer + scan_chains - 1) / scan_chains, [&](std::int64_t i) {
      std::int64_t row = i * scan_chains;
      if (row + scan_chains <= rows.outer) return scan.template run_short_rows<scan_chains>(row);
      for (; row < rows.outer; ++row) scan.template run_short_rows<1>(row);
    });
  } else if (rows.outer < 64 && scan.pieces() > 1 && exec.concurrency() > 1) {
    scan_pieces(exec, scan);
  } else {
    in_shares(rows.outer, [&](std::int64_t row) { scan.run_long_row(row); });
  }
}

}  // namespace detail

/// y <- the running sums of the rows of x, before which comes start[row] if it is given; totals[row] <- all of a row
/// with what comes before it. y or totals may be null. `nothing` changes nothing. On the host all is done when it
/// returns.
template <reduction How, class Exec, class T>
void scan_rows(Exec const& exec, row_layout const& rows, scan_direction direction, T const* x, T* y,
               accumulator_of_t<T> const* start, accumulator_of_t<T>* totals) {
  if (rows.count() == 0) return;
  detail::scanned_rows<How, T> const scan{rows, direction, x, y, totals, start, identity<accumulator_of_t<T>>(How)};
  if constexpr (runs_on_host<Exec>) {
    detail::scan_on_host(exec, scan);
  } else {
    for_each_item("ostraka scan", exec, rows.count(), rows.size(), scan);
    exec.fence();
  }
}

}  // namespace ostraka::engine
