// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The host kernel behind reductions and behind products of a large block with small ones: C[o] <- alpha (fold
/// over r of terms[o, r]) + beta C[o]. It reads the largest operand in the order of memory: across a row of outputs if
/// outputs are adjacent in it, along the reduced elements if these are. The Fold defines the terms and their addition
/// (`reduction_of`, `sum_of_products`).

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/loops/item_cut.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/portable/transpose_matrix.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>

namespace ostraka::engine::detail {

/// Calls f(begin of the piece in each operand, its length) for pieces of the innermost loop that cover iterations
/// [begin, end) of a loop nest.
template <int Operands, class F>
void for_each_run(loop_nest<Operands> const& loops, std::int64_t begin, std::int64_t end, F const& f) {
  std::int64_t const run = loops.rank > 0 ? loops.extent[loops.rank - 1] : 1;
  loop_walker<Operands> walker(loops, begin);
  for (std::int64_t r = begin; r < end;) {
    std::int64_t const stop = (r / run + 1) * run;
    std::int64_t const count = (stop < end ? stop : end) - r;
    f(walker.offset, count);
    r += count;
    if (r < end) walker.skip(count);
  }
}

/// The arrangement of a fold over `Operands` operands. It is made once for the same loops, and holds no address.
template <int Operands>
struct fold_shape {
  bool in_rows = false;
  bool transposes = false;
  loop_nest<Operands + 1> outer;  // {operands…, c}, without the row
  loop_nest<Operands> reduced;
  std::int64_t length = 1;  // of a row
  std::int64_t step[Operands + 1] = {};
  item_cut cut{};  // of rows or of outputs

  fold_shape() = default;
  fold_shape(loop_nest<Operands + 1> const& outputs, loop_nest<Operands> const& summed)
      : outer(outputs.copied()), reduced(summed.copied()) {}

  /// True if the second operand is transposed relative to the first: contiguous along a row of outputs, not along the
  /// runs.
  [[nodiscard]] bool is_transposed() const {
    if constexpr (Operands == 2)
      return !in_rows && step[1] == 1 && reduced.rank > 0 && reduced.stride[1][reduced.rank - 1] > 1;
    return false;
  }
  /// True if the fold is one row of outputs and one run of terms, without further loops.
  [[nodiscard]] bool is_one_row() const { return outer.rank == 0 && reduced.rank <= 1 && !transposes; }
  [[nodiscard]] bool runs_apart() const { return reduced.rank > 1 && step[0] < reduced.stride[0][reduced.rank - 2]; }
};

/// Folds rows of outputs. Fold: the number of `operands`, which have `element`s, and whose folds are `value`s; `lead()`
/// is the block that is read in the order of memory. T: the type of the results.
///   start()                                                        the fold of nothing
///   across(sums, at, row_step, count, run_step, run)               sums[i] <- the fold of it with terms[i, r], r < run
///   along(sums, at, row_step, count, run_step, run)                the same, one i after the other
template <class T, class Fold>
struct fold_rows {
  using value = typename Fold::value;
  using element = typename Fold::element;
  static constexpr int operands = Fold::operands;
  static constexpr std::int64_t width = sizeof(value) < 16 ? 1024 : 512;
  static constexpr std::int64_t row_width =
      sizeof(value) < 32 ? 32768 / static_cast<std::int64_t>(sizeof(value)) : 1024;  // longer rows need fewer jumps
  static constexpr std::int64_t transposed_width =
      256;  // of a row whose terms are transposed first, because their runs are short
  static constexpr std::int64_t short_run = std::clamp<std::int64_t>(31 / sizeof(element), 1, 16);
  static constexpr std::int64_t lines_apart = 64;  // elements: whole cache lines for any type

  Fold fold;
  T* c;
  update<T> how;
  std::int64_t parts;  // number of parts of the fold; their results are part_step apart in c
  std::int64_t part_step;
  fold_shape<operands> const& shape;
  item_cut cut;  // the shape's, or whole rows

  std::int64_t items() const { return cut.items() * parts; }

  void operator()(std::int64_t item) const {
    std::int64_t const part = parts == 1 ? 0 : item / cut.items();
    item -= part * cut.items();
    std::int64_t const begin = begin_of(part), end = begin_of(part + 1);
    T* const target = c + part * part_step;
    cut.for_each_piece(item, shape.outer,
                       [&](std::int64_t const(&at)[operands + 1], std::int64_t first, std::int64_t count) {
                         std::int64_t here[operands + 1];
                         for (int o = 0; o <= operands; ++o) here[o] = at[o] + first * shape.step[o];
                         if (shape.transposes)
                           fold_transposed_runs(target, here, count);
                         else if (shape.in_rows)
                           fold_row(target, here, count, begin, end);
                         else
                           fold_each(target, here, count, begin, end);
                       });
  }

  /// Returns the begin of a part. Long parts begin at cache lines if the block does, since a vector that spans two
  /// lines costs two loads.
  std::int64_t begin_of(std::int64_t part) const {
    if (parts == 1) return part * shape.reduced.size();
    std::int64_t const begin = part * shape.reduced.size() / parts;
    return part == parts || shape.reduced.size() < parts * 16 * lines_apart ? begin : begin / lines_apart * lines_apart;
  }

  /// Computes the run's step in each operand.
  void run_step(std::int64_t (&of_run)[operands]) const {
    for (int o = 0; o < operands; ++o)
      of_run[o] = shape.reduced.rank > 0 ? shape.reduced.stride[o][shape.reduced.rank - 1] : 0;
  }

  /// Sets all sums to the fold of nothing. Compilers would turn the loop into a call of memset, which is slow for short
  /// rows.
  void start_all(value* sums, std::int64_t count) const {
    value start = fold.start();
    asm("" : "+m"(start));
    value const nothing = start;
#if defined(__GNUC__) && !defined(__clang__)
#  pragma GCC unroll 4
#endif
    for (std::int64_t i = 0; i < count; ++i) sums[i] = nothing;
  }

  /// Returns the place in which a row of outputs is folded: the result, if outputs are contiguous there and only
  /// overwrite it, otherwise the buffer. The result overlaps no operand.
  value* place_of([[maybe_unused]] T* result, value* buffer) const {
    if constexpr (std::is_same_v<T, value>)
      if (shape.step[operands] == 1 && how.overwrites()) return result;
    return buffer;
  }

  /// Folds all outputs of a row together, one reduced element after the other.
  void fold_row(T* target, std::int64_t (&at)[operands + 1], std::int64_t count, std::int64_t begin,
                std::int64_t end) const {
    std::int64_t of_run[operands];
    run_step(of_run);
    while (count > 0) {
      std::int64_t const wide = count < row_width ? count : row_width;
      value buffer[row_width];
      value* const sums = place_of(target + at[operands], buffer);
      start_all(sums, wide);
      for_each_run(shape.reduced, begin, end, [&](std::int64_t const(&offset)[operands], std::int64_t run) {
        std::int64_t from[operands];
        for (int o = 0; o < operands; ++o) from[o] = at[o] + offset[o];
        fold.across(sums, from, shape.step, wide, of_run, run);
      });
      if (sums == buffer) how.write(target + at[operands], shape.step[operands], sums, wide);
      for (int o = 0; o <= operands; ++o) at[o] += wide * shape.step[o];
      count -= wide;
    }
  }

  /// Folds along the runs. All outputs of a row advance by one run together, unless further runs of an output are
  /// closer in memory than the other outputs.
  void fold_each(T* target, std::int64_t (&at)[operands + 1], std::int64_t count, std::int64_t begin,
                 std::int64_t end) const {
    std::int64_t of_run[operands];
    run_step(of_run);
    std::int64_t const together = shape.reduced.rank <= 1 || shape.runs_apart() || shape.is_transposed() ? width : 4;
    while (count > 0) {
      std::int64_t const wide = count < together ? count : together;
      value buffer[width];
      value* const sums = place_of(target + at[operands], buffer);
      start_all(sums, wide);
      for_each_run(shape.reduced, begin, end, [&](std::int64_t const(&offset)[operands], std::int64_t run) {
        std::int64_t from[operands];
        for (int o = 0; o < operands; ++o) from[o] = at[o] + offset[o];
        fold.along(sums, from, shape.step, wide, of_run, run);
      });
      if (sums == buffer) how.write(target + at[operands], shape.step[operands], sums, wide);
      for (int o = 0; o <= operands; ++o) at[o] += wide * shape.step[o];
      count -= wide;
    }
  }

  /// Folds everything, like fold_row and fold_each. @pre shape.is_one_row(), the fold is one part, and the row is no
  /// longer than `width`
  void fold_one_row() const {
    std::int64_t const at[operands] = {};
    std::int64_t of_run[operands];
    run_step(of_run);
    std::int64_t const run = shape.reduced.rank > 0 ? shape.reduced.extent[0] : 1;
    value buffer[width];
    value* const sums = place_of(c, buffer);
    start_all(sums, shape.length);
    if (shape.in_rows)
      fold.across(sums, at, shape.step, shape.length, of_run, run);
    else
      fold.along(sums, at, shape.step, shape.length, of_run, run);
    if (sums == buffer) how.write(c, shape.step[operands], sums, shape.length);
  }

  /// Transposes runs of less than 32 bytes, A[i, r], to A[r, i], so that a row of outputs is folded together.
  void fold_transposed_runs(T* target, std::int64_t (&at)[operands + 1], std::int64_t count) const {
    std::int64_t of_run[operands], of_row[operands + 1];
    run_step(of_run);
    std::int64_t const run = shape.reduced.size();
    for (int o = 0; o <= operands; ++o) of_row[o] = shape.step[o];
    of_run[0] = transposed_width;
    of_row[0] = 1;
    while (count > 0) {
      std::int64_t const wide = count < transposed_width ? count : transposed_width;
      element terms[short_run * transposed_width];
      transpose(terms, transposed_width, fold.lead() + at[0], shape.step[0], wide, run);
      value sums[transposed_width];
      start_all(sums, wide);
      std::int64_t from[operands] = {};
      for (int o = 1; o < operands; ++o) from[o] = at[o];
      fold.with_lead(terms).across(sums, from, of_row, wide, of_run, run);
      how.write(target + at[operands], shape.step[operands], sums, wide);
      for (int o = 0; o <= operands; ++o) at[o] += wide * shape.step[o];
      count -= wide;
    }
  }
};

}  // namespace ostraka::engine::detail
