// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The kernels behind reduce.hpp: C[o] <- alpha (reduction over r of A[o, r]) + beta C[o].

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/loop_nest.hpp>
#include <ostraka/engine/reduction.hpp>
#include <ostraka/engine/update.hpp>

namespace ostraka::engine::detail {

/// What both kernels read. The reduction may be cut into `parts`, whose results lie `part_step` apart in c.
template <class T>
struct reduction_operands {
  T const* a;
  T* c;
  reduction how;
  T start;  // the identity
  std::int64_t parts;
  std::int64_t part_step;
  loop_nest<1> reduced;  // {a}
  update<T> into{};

  KOKKOS_INLINE_FUNCTION std::int64_t begin(std::int64_t part) const { return part * reduced.size() / parts; }
};

/// Output i of part p a call, i varying fastest.
template <class T>
struct reduce_elements {
  reduction_operands<T> in;
  loop_nest<2> outputs;  // {a, c}

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const part = item / outputs.size();
    std::int64_t at[2];
    outputs.locate(item % outputs.size(), at);
    std::int64_t const end = in.begin(part + 1);
    loop_walker<1> r(in.reduced, in.begin(part));
    T result = in.start;
    for (std::int64_t i = in.begin(part); i < end; ++i, r.next()) result = combine(in.how, result, in.a[at[0] + r.offset[0]]);
    in.into.write(in.c + at[1] + part * in.part_step, 1, &result, 1);
  }
};

/// A row of up to 64 outputs that are neighbours in c a call; the inner loop runs along whichever of outputs and reduced elements lies closer together.
template <class T>
struct reduce_rows {
  static constexpr std::int64_t width = 64;

  reduction_operands<T> in;
  loop_nest<2> outer;  // {a, c}
  std::int64_t length;
  std::int64_t step[2];

  std::int64_t rows() const { return (length + width - 1) / width; }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const rows_of_one = (length + width - 1) / width;
    std::int64_t const rows_of_all = rows_of_one * outer.size();
    std::int64_t const part = item / rows_of_all;
    std::int64_t const row = item % rows_of_all;
    std::int64_t at[2];
    outer.locate(row / rows_of_one, at);
    std::int64_t const first = row % rows_of_one * width;
    int const count = static_cast<int>(length - first < width ? length - first : width);
    T const* const source = in.a + at[0] + first * step[0];
    T* const target = in.c + at[1] + first * step[1] + part * in.part_step;

    T results[width];
    for (int i = 0; i < count; ++i) results[i] = in.start;
    int const last = in.reduced.rank - 1;
    if (last >= 0 && in.reduced.stride[0][last] == 1)
      reduce_runs(results, source, count, part);
    else
      reduce_across(results, source, count, part);
    in.into.write(target, step[1], results, count);
  }

  /// One output after the other, each along its contiguous runs.
  KOKKOS_INLINE_FUNCTION void reduce_runs(T* results, T const* source, int count, std::int64_t part) const {
    constexpr int lanes = 8;  // side by side, so that no operation waits for the one before
    int const last = in.reduced.rank - 1;
    std::int64_t const run = in.reduced.extent[last];
    std::int64_t const end = in.begin(part + 1);
    for (int i = 0; i < count; ++i) {
      T side[lanes];
      for (int l = 0; l < lanes; ++l) side[l] = in.start;
      for (std::int64_t r = in.begin(part); r < end;) {
        std::int64_t at[1];
        in.reduced.locate(r, at);
        std::int64_t const stop = (r / run + 1) * run;
        std::int64_t const piece = (stop < end ? stop : end) - r;
        T const* const from = source + i * step[0] + at[0];
        std::int64_t j = 0;
        for (; j + lanes <= piece; j += lanes) combine_run(in.how, side, from + j, lanes);
        for (; j < piece; ++j) side[0] = combine(in.how, side[0], from[j]);
        r += piece;
      }
      for (int l = 1; l < lanes; ++l) side[0] = combine(in.how, side[0], side[l]);
      results[i] = side[0];
    }
  }

  /// All outputs of the row together, one reduced element after the other.
  KOKKOS_INLINE_FUNCTION void reduce_across(T* results, T const* source, int count, std::int64_t part) const {
    std::int64_t const end = in.begin(part + 1);
    loop_walker<1> r(in.reduced, in.begin(part));
    for (std::int64_t j = in.begin(part); j < end; ++j, r.next()) {
      T const* const from = source + r.offset[0];
      if (step[0] == 1)
        combine_run(in.how, results, from, count);
      else
        for (int i = 0; i < count; ++i) results[i] = combine(in.how, results[i], from[i * step[0]]);
    }
  }
};

}  // namespace ostraka::engine::detail
