// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Processes rows on the host. A row is read from memory once and written once, since it stays in a cache in
/// between. Along the last dimension a row is a run; along other dimensions rows are interleaved and processed as
/// panels, with vectors across them. When elements are copied into a buffer, 16-bit elements are widened, and hidden
/// elements become −∞.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/narrow_runs.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/kernels/portable/transpose_matrix.hpp>
#include <ostraka/engine/kernels/rows/row_formulas.hpp>
#include <ostraka/engine/kernels/rows/rows_of_block.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine::detail {

/// The number of elements that are processed at once. A row that is not longer is read from memory once.
inline constexpr std::int64_t row_piece = 8192;
/// The most bytes of a row's exponentials that are kept, in a core's own caches.
inline constexpr std::int64_t kept_bytes = 1 << 19;

/// Reads parts of a row or panel as numbers: in place, or through a buffer.
template <class X, class Mask>
class row_reader {
 public:
  using block = rows_of_block<X, Mask>;
  using number = typename block::number;

  /// @param buffer for a piece, or for a row if rows are read as a whole; unused if elements are numbers already
  row_reader(block const& b, number* buffer) : block_(b), buffer_(buffer) {}

  /// Returns elements [k, k + n) of rows [inner, inner + width) of a group. The step between elements is
  /// step_of(width).
  number const* read(std::int64_t outer, std::int64_t inner, std::int64_t width, std::int64_t k, std::int64_t n) {
    row_layout const& rows = block_.rows;
    X const* const from = block_.x + (outer * rows.length + k) * rows.step + inner;
    if constexpr (!block::buffered) {
      return from;
    } else {
      if (outer == held_[0] && inner == held_[1] && k == held_[2]) return buffer_;
      held_[0] = outer;
      held_[1] = inner;
      held_[2] = k;
      number* const to = buffer_;
      if (rows.step == 1)
        widen_run(from, to, n);
      else
        for (std::int64_t r = 0; r < n; ++r) {
          if (k + n + r < rows.length) prefetch(from + (n + r) * rows.step, width);
          widen_run(from + r * rows.step, to + r * width, width);
        }
      if constexpr (block::masked) hide(to, outer, inner, width, k, n);
      return to;
    }
  }

  [[nodiscard]] std::int64_t step_of(std::int64_t width) const { return block::buffered ? width : block_.rows.step; }

 private:
  void hide(number* to, std::int64_t outer, std::int64_t inner, std::int64_t width, std::int64_t k,
            std::int64_t n) const {
    std::int64_t const step = block_.mask_at.step();
    constexpr number hidden = -std::numeric_limits<number>::infinity();
    for (std::int64_t i = 0; i < width; ++i) {
      Mask const* const mask = block_.mask + block_.mask_at.first(outer, inner + i) + k * step;
      if (width == 1 && step == 1)
        for (std::int64_t r = 0; r < n; ++r) to[r] = mask[r] == Mask(0) ? hidden : to[r];
      else
        for (std::int64_t r = 0; r < n; ++r) to[r * width + i] = mask[r * step] == Mask(0) ? hidden : to[r * width + i];
    }
  }

  block const& block_;
  std::int64_t held_[3] = {-1, -1, -1};
  number* buffer_;
};

/// Writes the formula's results of a run, times the gain, plus the bias.
template <class X, class T, class Formula, class Gain, class Bias>
void write_run(X* to, T const* x, std::int64_t n, Formula const& formula, row_coefficients<T> c,
               [[maybe_unused]] Gain const* gain, [[maybe_unused]] Bias const* bias) {
  write_elements<T>(to, n, [=, a = c.a, b = c.b](std::int64_t k) {
    T y = formula(x[k], a, b);
    if constexpr (!std::is_same_v<Gain, no_vector>) y = y * static_cast<T>(gain[k]);
    if constexpr (!std::is_same_v<Bias, no_vector>) y = y + static_cast<T>(bias[k]);
    return y;
  });
}

/// Writes the results of an element of each row of a panel.
template <class X, class T, class Formula, class Gain, class Bias>
void write_across(X* to, T const* x, std::int64_t wide, Formula const& formula, T const* a, T const* b,
                  [[maybe_unused]] Gain const* gain, [[maybe_unused]] Bias const* bias) {
  T times = 1, plus = 0;
  if constexpr (!std::is_same_v<Gain, no_vector>) times = static_cast<T>(*gain);
  if constexpr (!std::is_same_v<Bias, no_vector>) plus = static_cast<T>(*bias);
  write_elements<T>(to, wide, [=](std::int64_t i) {
    T y = formula(x[i], a[i], b[i]);
    if constexpr (!std::is_same_v<Gain, no_vector>) y = y * times;
    if constexpr (!std::is_same_v<Bias, no_vector>) y = y + plus;
    return y;
  });
}

template <class Vector>
Vector const* further(Vector const* v, std::int64_t k) {
  if constexpr (std::is_same_v<Vector, no_vector>)
    return v;
  else
    return v + k;
}

/// All work on rows on the host. A task is a row, or a panel of adjacent rows.
template <class Formula, class X, class Mask, class Gain = no_vector, class Bias = no_vector>
struct row_tasks {
  using block = rows_of_block<X, Mask>;
  using T = typename block::number;
  using statistic = typename Formula::statistic;
  using piece_buffer = tile_buffer<T, block::buffered ? row_piece : 1>;
  using panel_statistics = tile_buffer<statistic, widest_panel>;  // uninitialised: setting them takes as long as a row

  block const& in;
  Formula formula;
  std::int64_t total = 0;  // elements of a whole row
  X* out = nullptr;
  Gain const* gain = nullptr;
  Bias const* bias = nullptr;
  std::int64_t width = 1, panels = 1;  // of a group of rows

  row_tasks(block const& b, Formula const& f) : in(b), formula(f) {
    row_layout const& rows = in.rows;
    if (rows.step == 1) return;
    // The widest panel that fits a cache, but at least several cache lines.
    constexpr std::int64_t line = elements_of_line<X>;
    std::int64_t const fits = row_piece / std::max<std::int64_t>(rows.length, 1) / line * line;
    width = std::min(rows.step, std::clamp(fits, 4 * line, widest_panel));
    panels = (rows.step + width - 1) / width;
  }

  [[nodiscard]] std::int64_t count() const { return in.rows.outer * panels; }
  [[nodiscard]] std::int64_t piece() const { return row_piece / width; }

  /// Computes the statistics of a task's rows.
  void measure(row_reader<X, Mask>& reader, std::int64_t outer, std::int64_t inner, std::int64_t wide,
               statistic* to) const {
    std::int64_t const n = in.rows.length, step = reader.step_of(wide);
    for (std::int64_t i = 0; i < wide; ++i) to[i] = statistic{};
    panel_statistics memory;
    statistic* const part = memory.data();
    for (std::int64_t k = 0; k < n; k += piece()) {
      std::int64_t const here = std::min(piece(), n - k);
      T const* const x = reader.read(outer, inner, wide, k, here);
      if (in.rows.step == 1) {
        to[0] = statistic::merge(to[0], statistic::of_run(x, here), k, here);
      } else {
        statistic::of_panel(x, here, step, wide, part);
        for (std::int64_t i = 0; i < wide; ++i) to[i] = statistic::merge(to[i], part[i], k, here);
      }
    }
  }

  /// Writes the results of a task's rows. @param next is read after this row, or null
  void write(row_reader<X, Mask>& reader, std::int64_t outer, std::int64_t inner, std::int64_t wide,
             statistic const* from, X const* next = nullptr) const {
    std::int64_t const n = in.rows.length, step = reader.step_of(wide);
    X* const to = out + outer * n * in.rows.step + inner;
    T a[widest_panel], b[widest_panel];
    for (std::int64_t i = 0; i < wide; ++i) {
      row_coefficients<T> const c = formula.of_row(from[i], total);
      a[i] = c.a;
      b[i] = c.b;
    }
    for (std::int64_t k = 0; k < n; k += piece()) {
      std::int64_t const here = std::min(piece(), n - k);
      T const* const x = reader.read(outer, inner, wide, k, here);
      if (in.rows.step == 1) {
        // Alternates reads and writes, so that memory is busy in both directions.
        constexpr std::int64_t some = elements_of_page<X> / 2;
        for (std::int64_t i = 0; i < here; i += some) {
          std::int64_t const now = std::min(some, here - i), at = k + i;
          if (next != nullptr) prefetch(next + at, now);
          write_run(to + at, x + i, now, formula, row_coefficients<T>{a[0], b[0]}, further(gain, at),
                    further(bias, at));
        }
      } else {
        for (std::int64_t r = 0; r < here; ++r) {
          write_across(to + (k + r) * in.rows.step, x + r * step, wide, formula, a, b, further(gain, k + r),
                       further(bias, k + r));
        }
      }
    }
    keep_hidden(b, outer * in.rows.step + inner, wide);
  }

  /// Restores hidden elements in rows that a NaN has made NaN. `b`: the coefficients of the rows from `row` on.
  void keep_hidden(T const* b, std::int64_t row, std::int64_t wide) const {
    if constexpr (HidesElements<Formula>)
      for (std::int64_t i = 0; formula.hides && i < wide; ++i)
        if (b[i] != b[i]) write_hidden(row + i);
  }
  [[gnu::cold, gnu::noinline]] void write_hidden(std::int64_t row) const {
    for (std::int64_t k = 0; k < in.rows.length; ++k)
      if (in.element(row, k) == minus_infinity<T>)
        out[in.rows.first(row) + k * in.rows.step] = static_cast<X>(Formula::hidden);
  }

  /// Calls f(reader, group, first row, rows, number of the first row) for every task of a share.
  template <class F>
  void for_each_task(std::int64_t begin, std::int64_t end, T* buffer, F const& f) const {
    row_reader<X, Mask> reader(in, buffer);
    for (std::int64_t t = begin; t < end; ++t) {
      std::int64_t const outer = t / panels, inner = t % panels * width;
      f(reader, outer, inner, std::min(width, in.rows.step - inner), outer * in.rows.step + inner);
    }
  }

  void measure_share(std::int64_t begin, std::int64_t end, statistic* rows) const {
    piece_buffer buffer;
    for_each_task(begin, end, buffer.data(), [this, rows](auto& reader, auto outer, auto inner, auto wide, auto row) {
      measure(reader, outer, inner, wide, rows + row);
    });
  }
  void write_share(std::int64_t begin, std::int64_t end, statistic const* rows) const {
    piece_buffer buffer;
    for_each_task(begin, end, buffer.data(), [this, rows](auto& reader, auto outer, auto inner, auto wide, auto row) {
      write(reader, outer, inner, wide, rows + row);
    });
  }

  /// True if rows are long, and the exponentials of each are kept until their sum is known.
  [[nodiscard]] bool keeps_long_rows() const {
    return in.rows.step == 1 && in.rows.length > row_piece &&
           in.rows.length * static_cast<std::int64_t>(sizeof(T)) <= kept_bytes;
  }
  /// Writes rows one at a time, and keeps the exponentials of each in `e`. `buffer` and `e` may be the same memory.
  void run_kept_rows(std::int64_t begin, std::int64_t end, T* buffer, T* e) const {
    std::int64_t const n = in.rows.length;
    for_each_task(begin, end, buffer, [&](auto& reader, auto outer, auto inner, auto, auto row) {
      T const* const x = reader.read(outer, inner, 1, 0, n);
      statistic s;
      s.largest = largest_of_run(x, n);
      T const shift = s.shift();
      for (std::int64_t k = 0; k < n; k += row_piece) {
        std::int64_t const here = std::min(row_piece, n - k);
        for_each_independent(here,
                             [=, to = e + k, from = x + k](std::int64_t i) { to[i] = engine::exp(from[i] - shift); });
        s.sum += sum_of_run<true, T>(here, [of = e + k](std::int64_t i) { return of[i]; });
      }
      T const b = formula.of_row(s, total).b;
      write_elements<T>(out + outer * n, n, [e, b](std::int64_t k) { return e[k] * b; });
      keep_hidden(&b, row, 1);
    });
  }
  void run_short_rows(std::int64_t begin, std::int64_t end) const {
    piece_buffer buffer;
    tile_buffer<T, row_piece> exponentials;
    T* const e = exponentials.data();
    if (in.rows.step == 1) return run_kept_rows(begin, end, buffer.data(), e);
    std::int64_t const n = in.rows.length;
    for_each_task(begin, end, buffer.data(), [&](auto& reader, auto outer, auto inner, auto wide, auto row) {
      T const* const x = reader.read(outer, inner, wide, 0, n);
      X* const to = out + outer * n * in.rows.step + inner;
      panel_statistics memory;
      statistic* const own = memory.data();
      T b[widest_panel];
      statistic::of_panel(x, n, reader.step_of(wide), wide, own, [=](std::int64_t k) { return e + k * wide; });
      for (std::int64_t i = 0; i < wide; ++i) b[i] = formula.of_row(own[i], total).b;
      for (std::int64_t k = 0; k < n; ++k)
        write_elements<T>(to + k * in.rows.step, wide, [=, &b](std::int64_t i) { return e[k * wide + i] * b[i]; });
      keep_hidden(b, row, wide);
    });
  }

  // `kept`: receives the rows' statistics, or null.
  void run_share(std::int64_t begin, std::int64_t end, statistic* kept) const {
    if constexpr (std::is_same_v<Formula, softmax_formula<T>>)
      if (in.rows.length * width <= row_piece && kept == nullptr) return run_short_rows(begin, end);
    piece_buffer buffer;
    for_each_task(begin, end, buffer.data(), [this, kept](auto& reader, auto outer, auto inner, auto wide, auto row) {
      panel_statistics own;
      statistic* const rows = kept == nullptr ? own.data() : kept + row;
      measure(reader, outer, inner, wide, rows);
      bool const another = in.rows.step == 1 && in.rows.length <= row_piece && outer + 1 < in.rows.outer;
      write(reader, outer, inner, wide, rows, another ? in.x + (outer + 1) * in.rows.length : nullptr);
    });
  }
};

/// Runs tasks that keep values of a row, with one share per thread.
template <class Exec, class Tasks>
void run_long_rows(char const* name, Exec const& exec, Tasks const& tasks) {
  row_layout const& rows = tasks.in.rows;
  std::int64_t const shares = std::min<std::int64_t>(tasks.count(), exec.concurrency());
  kernel_scratch<typename Tasks::T, Kokkos::HostSpace> const memory(shares * rows.length);
  for_each_share(name, exec, tasks.count(), shares, rows.size(),
                 [&](std::int64_t begin, std::int64_t end, std::int64_t share) {
                   auto* const own = memory.data() + share * rows.length;
                   with_wide_vectors([&] { tasks.run_kept_rows(begin, end, own, own); });
                 });
}

/// Runs shares of tasks, each with enough to do.
template <class Exec, class F>
void share_rows(char const* name, Exec const& exec, std::int64_t tasks, row_layout const& rows, F const& f) {
  std::int64_t const shares = std::clamp<std::int64_t>((rows.size() + serial_elements - 1) / serial_elements, 1, tasks);
  for_each_share(name, exec, tasks, shares, rows.size(), [&f](std::int64_t begin, std::int64_t end, std::int64_t) {
    with_wide_vectors([&] { f(begin, end); });
  });
}

}  // namespace ostraka::engine::detail
