// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Our own products of matrices on the host, for any strides. They serve integers, builds without BLAS,
/// extents beyond BLAS's int, and small or interleaved blocks, which a library would have to copy. C[b, m, n] is cut
/// into blocks; the parts of A and B for a block are packed into panels once, and the register tile's result is written
/// directly to its place (loops and blocks as in Goto and van de Geijn, 2008). Operations in flight progress between
/// rows of tiles, at no extra cost, since no panel is packed anew.

#include <algorithm>
#include <cstdint>
#include <utility>

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/portable/contract_kernel.hpp>
#include <ostraka/engine/kernels/portable/tile_operand.hpp>
#include <ostraka/engine/kernels/portable/tile_panels.hpp>
#include <ostraka/engine/kernels/portable/kernel_choice.hpp>
#include <ostraka/engine/machine/progress.hpp>

namespace ostraka::engine::detail {

/// The number of multiplications between two polls of operations in flight: a few tenths of a millisecond. Polling a
/// network's sockets takes microseconds of system time, so that four times as many polls would cost a few percent.
inline constexpr std::int64_t multiplications_between_progress = std::int64_t{1} << 23;

/// True if the product is of matrices, and not of a block and a few vectors.
inline bool worth_tiles(product_loops const& loops) {
  std::int64_t const m = loops.m.size(), n = loops.n.size();
  return std::max(m, n) >= 4 && std::min(m, n) > 1;
}

/// An extent in equal blocks of whole panels.
struct tile_blocks {
  std::int64_t extent, length, count;

  tile_blocks(std::int64_t n, std::int64_t most, int panel) : extent(n) {
    most = most / panel * panel;
    std::int64_t const pieces = (n + most - 1) / most;
    length = ((n + pieces - 1) / pieces + panel - 1) / panel * panel;
    count = (n + length - 1) / length;
  }
  std::int64_t begin(std::int64_t i) const { return i * length; }
  std::int64_t of(std::int64_t i) const { return std::min(length, extent - i * length); }
};

/// The side of C that is along the tiles' vectors, and the loops of each side.
struct tile_sides {
  bool swapped;        // a is the second operand
  loop_nest<3> batch;  // {a, b, c}
  loop_nest<2> m;      // {a, c}: rows of tiles
  loop_nest<2> n;      // {b, c}: columns

  /// Returns the number of elements of whole tiles.
  static double padded(std::int64_t rows, std::int64_t columns, int tile_rows, int tile_columns) {
    auto const whole = [](std::int64_t elements, int of) { return static_cast<double>((elements + of - 1) / of * of); };
    return whole(rows, tile_rows) * whole(columns, tile_columns);
  }

  /// True if vectors are along m: the side on which C is contiguous, unless its tiles would be much emptier.
  static bool lie_along_m(product_loops const& loops, int rows, int lanes) {
    auto const smallest = [](loop_nest<2> const& side) {
      int const d = smallest_step(side, 1);
      return d < 0 ? INT64_MAX : side.stride[1][d];
    };
    std::int64_t const height = loops.m.size(), width = loops.n.size();
    double const along_n = padded(height, width, rows, lanes), along_m = padded(width, height, rows, lanes);
    return smallest(loops.m) < smallest(loops.n) ? along_m <= 1.5 * along_n : 1.5 * along_m < along_n;
  }

  tile_sides(product_loops const& loops, int rows, int lanes)
      : swapped(lie_along_m(loops, rows, lanes)),
        batch(loops.batch),
        m(swapped ? loops.n : loops.m),
        n(swapped ? loops.m : loops.n) {
    if (swapped) batch.exchange_operands(0, 1);
  }
};

/// The tiles of a product. A task is one block of columns of one product of the batch, with all blocks of rows or a
/// group of them.
template <class T>
class contract_tiles {
 public:
  static constexpr int rows = 240, depth = 256, columns = sizeof(T) < 64 ? 8192 / static_cast<int>(sizeof(T)) : 128;

  contract_tiles(product_loops const& loops, product_operands<T> const& operands, std::int64_t threads)
      : in_(operands),
        micro_(choose_micro_kernel<T>()),
        sides_(loops, micro_.rows, micro_.lanes),
        m_(sides_.m.size(), threads > 1 ? rows / 2 : rows, micro_.rows),
        batch_(sides_.batch.size()),
        deepest_(tile_blocks((in_.k.size() + in_.parts - 1) / in_.parts, depth, 1).length),
        n_(sides_.n.size(), threads > 1 ? columns / 2 : columns, micro_.columns()) {
    if (sides_.swapped) {
      std::swap(in_.a, in_.b);
      in_.k.exchange_operands(0, 1);
    }
    if (threads > 1)
      groups_ = std::min(m_.count, std::max<std::int64_t>(1, 4 * threads / (in_.parts * n_.count * batch_)));
  }

  std::int64_t tasks() const { return in_.parts * n_.count * groups_ * batch_; }

  /// Returns the number of elements of scratch memory that a thread needs.
  std::int64_t buffer_size() const { return (m_.length + n_.length) * deepest_; }

  /// Runs tasks [begin, end). Tasks of the batch are consecutive, so that they share the tables of offsets. With
  /// `alone`, the operations that the calling thread has in flight progress meanwhile; only then, since they may start
  /// kernels, which wait for threads.
  void run(std::int64_t begin, std::int64_t end, T* panels, bool alone) const {
    tables at;
    at.alone = alone;
    loop_walker<3> batch(sides_.batch, begin % batch_);
    std::int64_t in_batch = begin % batch_, block = begin / batch_;
    for (std::int64_t task = begin; task < end; ++task, batch.next()) {
      if (in_batch == batch_) in_batch = 0, ++block;
      ++in_batch;
      one_task(at, block, batch.offset, panels);
    }
  }

 private:
  struct tables {
    offsets_of_run<rows> m;
    offsets_of_run<columns> n;
    offsets_of_run<depth> k;
    bool rows_packed = false;  // the rows are packed, and there are no others
    bool alone = false;
    std::int64_t multiplied = 0;  // multiplications since operations in flight last progressed
  };

  bool one_block_of_rows() const { return m_.count == 1 && batch_ == 1 && in_.parts == 1 && deepest_ == in_.k.size(); }

  void one_task(tables& at, std::int64_t block, std::int64_t const (&base)[3], T* panels) const {
    std::int64_t const group = groups_ == 1 ? 0 : block % groups_;
    if (groups_ != 1) block /= groups_;
    std::int64_t const column = n_.count == 1 ? 0 : block % n_.count;
    std::int64_t const part = n_.count == 1 ? block : block / n_.count;
    at.n.move_to(sides_.n, n_.begin(column), n_.of(column));
    T* const panels_a = panels;
    T* const panels_b = panels + m_.length * deepest_;
    T* const target = in_.c + base[2] + part * in_.part_step;
    update<T> how = in_.how;
    std::int64_t const k_end = in_.k_begin(part + 1);
    for (std::int64_t k = in_.k_begin(part); k < k_end; k += deepest_, how.beta = T(1)) {
      at.k.move_to(in_.k, k, std::min(k_end - k, deepest_));
      tile_operand<T> b{in_.b + base[1], at.n.at[0], at.n.count,       at.k.at[1],
                        at.k.count,      panels_b,   micro_.columns(), micro_.lanes};
      b.pack();
      for (std::int64_t row = group * m_.count / groups_, last = (group + 1) * m_.count / groups_; row < last; ++row) {
        at.m.move_to(sides_.m, m_.begin(row), m_.of(row));
        tile_operand<T> a{in_.a + base[0], at.m.at[0], at.m.count,  at.k.at[0],
                          at.k.count,      panels_a,   micro_.rows, micro_.rows};
        a.skip_packing_rows();
        if (!at.rows_packed) a.pack();
        at.rows_packed = one_block_of_rows();
        multiply(at, a, b, target, how);
      }
    }
  }

  /// Multiplies stripes of B, which stay in the second cache while all rows use them. Tiles of the same rows are
  /// consecutive, along the lines of C.
  void multiply(tables& at, tile_operand<T> const& a, tile_operand<T> const& b, T* target, update<T> const& how) const {
    int const whole = micro_.columns(),
              stripe = std::max(1, std::min(most_panels, 2048 / static_cast<int>(sizeof(T)) / whole)) * whole;
    micro_lines<T> rows_of[most_panels], columns_of[most_panels];
    std::uint64_t breaks[most_panels];
    int heights = 0;
    for (int i = 0; i < at.m.count; i += micro_.rows) rows_of[heights++] = a.lines(i);
    for (int begin = 0; begin < at.n.count; begin += stripe) {
      int const end = std::min(begin + stripe, at.n.count);
      int widths = 0;
      for (int j = begin; j < end; j += whole, ++widths) {
        breaks[widths] = at.n.breaks(j, std::min(whole, end - j));
        columns_of[widths] = b.lines(j);
      }
      for (int row = 0; row < heights; ++row) {
        for (int column = 0, j = begin; column < widths; ++column, j += whole)
          one_tile(at, row * micro_.rows, j, std::min(whole, end - j), breaks[column], rows_of[row],
                   columns_of[column], target, how);
        progress_after(at, std::int64_t{widths} * micro_.rows * whole * at.k.count);
      }
    }
  }

  static void progress_after(tables& at, std::int64_t multiplied) {
    at.multiplied += multiplied;
    if (at.multiplied < multiplications_between_progress) return;
    at.multiplied = 0;
    if (at.alone) progress();
  }

  /// Computes a tile: rows from i on and `width` columns from j on, which are contiguous in C except at `breaks`.
  void one_tile(tables const& at, int i, int j, int width, std::uint64_t breaks, micro_lines<T> const& a,
                micro_lines<T> const& b, T* target, update<T> const& how) const {
    int const vectors = micro_.vectors(width), whole = vectors * micro_.lanes,
              height = std::min(micro_.rows, at.m.count - i);
    bool const plain = how.alpha == T(1) && (how.beta == T(0) || how.beta == T(1));
    micro_function<T> const product = micro_.of[vectors - 1];
    if (plain && breaks == 0 && width == whole && height == micro_.rows)
      return product(at.k.count, a, b, target + at.n.at[1][j], at.m.at[1] + i, how.beta == T(1));
    alignas(64) unsigned char tile_buffer[sizeof(T) * micro_kernel<T>::most_elements];
    T* const tile = reinterpret_cast<T*>(tile_buffer);
    std::int64_t lines[micro_kernel<T>::most_rows];
    for (int r = 0; r < micro_.rows; ++r) lines[r] = r * whole;
    product(at.k.count, a, b, tile, lines, false);
    write_tile(how, target, tile, whole, at.m.at[1] + i, height, at.n.at[1] + j, width, breaks);
  }

  static constexpr int most_panels = 64;    // of a stripe

  product_operands<T> in_;
  micro_kernel<T> micro_;
  tile_sides sides_;
  tile_blocks m_;
  std::int64_t batch_;
  std::int64_t deepest_;  // iterations of k that are packed together
  tile_blocks n_;
  std::int64_t groups_ = 1;
};

}  // namespace ostraka::engine::detail
