// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Running sums (products, maxima, minima) along the rows of a dense block: y[k] = x[0] + … + x[k]. Each sum
/// waits for the previous one, so sums are computed by groups (running_sums.hpp). A long row is cut into pieces, each
/// of which begins with the total of the pieces before it. Interleaved rows are scanned together, a few k at a time.
/// The order of the additions depends only on the extents, not on the number of threads, except for the last digit of
/// complex products. 16-bit elements are summed as floats.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/narrow_runs.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/kernels/rows/row_layout.hpp>
#include <ostraka/engine/kernels/rows/running_sums.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

namespace detail {

inline constexpr std::int64_t scan_tile = 512;           // 16-bit elements that are converted at a time
inline constexpr std::int64_t scan_piece = 8192;         // elements of a piece; it begins with the total before it
inline constexpr std::int64_t scan_columns = 128 << 10;  // the most bytes of interleaved rows that are scanned together
inline constexpr int scan_steps = 4;                     // steps that interleaved rows take at once

/// Rows of a block, each with the sum before it.
template <reduction How, class T>
struct scanned_rows {
  using sum = accumulator_of_t<T>;

  row_layout rows;
  scan_direction direction;
  T const* x;
  T* y;              // null: totals alone
  sum* totals;       // of rows; null: not wanted
  sum const* start;  // of rows; null: nothing comes before
  sum nothing;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t toward() const { return direction.reverse ? -1 : 1; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t k) const {
    return direction.reverse ? rows.length - 1 - k : k;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION sum start_of(std::int64_t row) const {
    return start == nullptr ? nothing : start[row];
  }

  /// Scans one row, one element after the other, in a device's thread.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    sum s = start_of(row);
    for (std::int64_t k = 0; k < rows.length; ++k) {
      std::int64_t const at = rows.first(row) + place(k) * rows.step;
      sum const before = s;
      s = combine(How, s, sum(x[at]));
      if (y != nullptr) y[at] = T(direction.exclusive ? before : s);
    }
    if (totals != nullptr) totals[row] = s;
  }

  // ---- on the host, where loops are compiled for wide vectors ----

  [[nodiscard]] std::int64_t pieces() const { return (rows.length + scan_piece - 1) / scan_piece; }
  [[nodiscard]] std::int64_t end_of(std::int64_t piece) const {
    return std::min((piece + 1) * scan_piece, rows.length);
  }

  /// Returns the total of a piece, if no sums are written.
  [[nodiscard]] sum total_of(std::int64_t row, std::int64_t piece) const {
    constexpr int lanes = 32;
    sum part[lanes];
    for (int l = 0; l < lanes; ++l) part[l] = nothing;
    std::int64_t const begin = piece * scan_piece, count = end_of(piece) - begin;
    T const* const from = x + row * rows.length + (direction.reverse ? rows.length - end_of(piece) : begin);
    std::int64_t k = 0;
    for (; k + lanes <= count; k += lanes)
      for (int l = 0; l < lanes; ++l) part[l] = combine(How, part[l], sum(from[k + l]));
    for (; k < count; ++k) part[0] = combine(How, part[0], sum(from[k]));
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) part[l] = combine(How, part[l], part[half + l]);
    return part[0];
  }

  /// Computes the running sums of a piece that begins with `s`; returns the piece's own total.
  template <bool Writes>
  sum run_piece(std::int64_t row, std::int64_t piece, sum s) const {
    std::int64_t const begin = piece * scan_piece, count = end_of(piece) - begin;
    std::int64_t const at = row * rows.length + (direction.reverse ? rows.length - end_of(piece) : begin);
    sum own = nothing;
    if constexpr (std::is_same_v<T, sum>) {
      run_sums<How, Writes>(x + at, Writes ? y + at : nullptr, count, direction, s, own);
    } else {
      sum tile[scan_tile];
      for (std::int64_t k = 0; k < count; k += scan_tile) {
        std::int64_t const n = std::min(scan_tile, count - k), from = at + (direction.reverse ? count - k - n : k);
        widen_run(x + from, tile, n);
        run_sums<How, Writes>(tile, tile, n, direction, s, own);
        if (Writes) narrow_run(tile, y + from, n);
      }
    }
    return own;
  }

  /// Returns the total of a piece, with the additions of run_piece if nothing comes before.
  [[nodiscard]] sum total(std::int64_t row, std::int64_t piece) const {
    return y == nullptr ? total_of(row, piece) : run_piece<false>(row, piece, nothing);
  }

  void run_row(std::int64_t row) const {
    sum s = start_of(row);
    for (std::int64_t p = 0; p < pieces(); ++p)
      s = combine(How, s, y == nullptr ? total_of(row, p) : run_piece<true>(row, p, s));
    if (totals != nullptr) totals[row] = s;
  }

  /// Takes `Steps` elements of each of n interleaved rows, from `at` on; reads and writes the sums once.
  template <int Steps>
  void take_steps(sum* s, std::int64_t n, std::int64_t at) const {
    std::int64_t const step = toward() * rows.step;
    bool const before = direction.exclusive;
    T const* const from = x + at;
    if (y == nullptr)
      return for_each_independent(n, [=](std::int64_t i) {
        sum last = s[i];
        _Pragma("GCC unroll 4") for (int r = 0; r < Steps; ++r) last = combine(How, last, sum(from[r * step + i]));
        s[i] = last;
      });
    for_each_independent(n, [=, to = y + at](std::int64_t i) {
      sum last = s[i];
      _Pragma("GCC unroll 4") for (int r = 0; r < Steps; ++r) {
        sum const next = combine(How, last, sum(from[r * step + i]));
        to[r * step + i] = T(before ? last : next);
        last = next;
      }
      s[i] = last;
    });
  }

  /// Scans the interleaved rows [row, row + n) of one group; s holds a sum of each.
  void run_columns(std::int64_t row, std::int64_t n, sum* s) const {
    for (std::int64_t i = 0; i < n; ++i) s[i] = start_of(row + i);
    // Steps a page or more apart are separate streams; closer ones are one stream.
    bool const apart = rows.step >= elements_of_page<T>;
    with_wide_vectors([this, s, n, apart, first = rows.first(row)] {
      std::int64_t k = 0;
      for (; apart && k + scan_steps <= rows.length; k += scan_steps)
        take_steps<scan_steps>(s, n, first + place(k) * rows.step);
      for (; k < rows.length; ++k) {
        std::int64_t const at = first + place(k) * rows.step;
        T const* const from = x + at - (direction.reverse ? 2 * elements_of_page<T> : 0);  // next rows are before it
        stream_of_rows<T>{from, n, rows.step, rows.length - k}.prefetch_beyond(0, 1);
        take_steps<1>(s, n, at);
      }
    });
    if (totals != nullptr) std::copy_n(s, n, totals + row);
  }
};

/// Calls f(begin, end) for shares of `tasks` tasks.
template <class Exec, class F>
void in_shares(Exec const& exec, std::int64_t tasks, std::int64_t elements, F const& f) {
  for_each_share("ostraka scan", exec, tasks, std::min(tasks, elements / serial_elements + 1), elements,
                 [&f](std::int64_t begin, std::int64_t end, std::int64_t) { f(begin, end); });
}

/// Scans few long rows with several threads: computes the totals of all pieces first.
template <class Exec, reduction How, class T>
void scan_pieces(Exec const& exec, scanned_rows<How, T> const& scan) {
  using sum = typename scanned_rows<How, T>::sum;
  std::int64_t const pieces = scan.pieces(), n = scan.rows.count();
  kernel_scratch<sum, Kokkos::HostSpace> const memory(pieces * n);
  sum* const before = memory.data();
  in_shares(exec, pieces * n, scan.rows.size(), [&](std::int64_t begin, std::int64_t end) {
    with_wide_vectors([&, begin, end] {
      for (std::int64_t i = begin; i < end; ++i) before[i] = scan.total(i / pieces, i % pieces);
    });
  });
  for (std::int64_t row = 0; row < n; ++row) {
    sum s = scan.start_of(row);
    for (std::int64_t i = row * pieces; i < (row + 1) * pieces; ++i) {
      sum const total = before[i];
      before[i] = s;
      s = combine(How, s, total);
    }
    if (scan.totals != nullptr) scan.totals[row] = s;
  }
  if (scan.y == nullptr) return;
  in_shares(exec, pieces * n, scan.rows.size(), [&](std::int64_t begin, std::int64_t end) {
    with_wide_vectors([&, begin, end] {
      for (std::int64_t i = begin; i < end; ++i) scan.template run_piece<true>(i / pieces, i % pieces, before[i]);
    });
  });
}

template <class Exec, reduction How, class T>
void scan_on_host(Exec const& exec, scanned_rows<How, T> const& scan) {
  row_layout const& rows = scan.rows;
  if (rows.step > 1) {
    constexpr std::int64_t widest = scan_columns / static_cast<std::int64_t>(sizeof(T));
    std::int64_t const of_thread = rows.count() / exec.concurrency();
    std::int64_t const width = std::clamp(of_thread, widest / 64, widest), strips = (rows.step + width - 1) / width;
    std::int64_t const tasks = rows.outer * strips, worth = rows.size() / serial_elements + 1;
    std::int64_t const shares = std::min({tasks, worth, 4 * static_cast<std::int64_t>(exec.concurrency())});
    std::int64_t const room = std::min(width, rows.step);
    kernel_scratch<typename scanned_rows<How, T>::sum, Kokkos::HostSpace> const sums(shares * room);
    for_each_share("ostraka scan", exec, tasks, shares, rows.size(),
                   [&](std::int64_t begin, std::int64_t end, std::int64_t share) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       std::int64_t const first = i % strips * width;
                       scan.run_columns(i / strips * rows.step + first, std::min(width, rows.step - first),
                                        sums.data() + share * room);
                     }
                   });
  } else if (rows.outer < 64 && scan.pieces() > 1 && exec.concurrency() > 1) {
    scan_pieces(exec, scan);
  } else {
    in_shares(exec, rows.outer, rows.size(), [&](std::int64_t begin, std::int64_t end) {
      with_wide_vectors([&, begin, end] {
        for (std::int64_t row = begin; row < end; ++row) scan.run_row(row);
      });
    });
  }
}

}  // namespace detail

/// y <- the running sums of the rows of x, each beginning with start[row], unless start is null; totals[row] <- the
/// whole sum of a row, including its start. y or totals may be null. On the host, it returns when the results are
/// written.
template <reduction How, class Exec, class T>
void scan_rows(Exec const& exec, row_layout const& rows, scan_direction direction, T const* x, T* y,
               accumulator_of_t<T> const* start, accumulator_of_t<T>* totals) {
  if (rows.count() == 0) return;
  detail::scanned_rows<How, T> const scan{rows, direction, x, y, totals, start, identity<accumulator_of_t<T>>(How)};
  if constexpr (runs_on_host<Exec>) {
    detail::scan_on_host(exec, scan);
  } else {
    for_each_item("ostraka scan", exec, rows.count(), rows.size(), scan);
    fence_on_host(exec);
  }
}

}  // namespace ostraka::engine
