// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Contractions without a library, for any element type, strides and space: C[b, m, n] <- alpha (sum over k of
/// A[b, m, k] B[b, k, n]) + beta C[b, m, n]. This file has the operands of the kernels, and the simple kernels: one
/// output per thread on accelerators, folds of a large block with a small one on the host, and products without a sum.
/// contract_tiles.hpp multiplies matrices on the host.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/kernels/folds/fold_kernel.hpp>
#include <ostraka/engine/kernels/folds/fold_transposed.hpp>
#include <ostraka/engine/kernels/folds/reduce_kernel.hpp>
#include <ostraka/engine/kernels/folds/row_sums.hpp>
#include <ostraka/engine/kernels/folds/unrolled_dot.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>

namespace ostraka::engine::detail {

/// The operands of the kernels. The sum over k may be cut into `parts` parts, whose results are `part_step` apart in c
/// and are added afterwards.
template <class T>
struct product_operands {
  T const* a;
  T const* b;
  T* c;
  std::int64_t parts;
  std::int64_t part_step;
  loop_nest<2> k;  // {a, b}
  update<T> how{};

  KOKKOS_INLINE_FUNCTION std::int64_t k_begin(std::int64_t part) const { return part * k.size() / parts; }
};

/// Computes one output i of part p per call, with i varying fastest.
template <class T>
struct contract_elements {
  product_operands<T> in;
  loop_nest<3> outputs;  // {a, b, c}

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const part = item / outputs.size();
    std::int64_t at[3];
    outputs.locate(item % outputs.size(), at);
    std::int64_t const end = in.k_begin(part + 1);
    loop_walker<2> k(in.k, in.k_begin(part));
    T sum = T(0);
    for (std::int64_t i = in.k_begin(part); i < end; ++i, k.next())
      sum += in.a[at[0] + k.offset[0]] * in.b[at[1] + k.offset[1]];
    in.how.write(in.c + at[2] + part * in.part_step, 1, &sum, 1);
  }
};

/// The folds of blocks that share two labels, or one that the result also has. Only such blocks can both be contiguous
/// along the outputs, or be transposed relative to each other. A function returns false, and does nothing, if the
/// blocks are neither, or too small for it.
template <class T>
struct shared_block_folds {
  /// sums[i] += sum over r < run of x[i row_step[0] + r run_step[0]] y[i row_step[1] + r run_step[1]], i < count
  using sums_of_rows = bool (*)(T* sums, T const* x, T const* y, std::int64_t const (&row_step)[2], std::int64_t count,
                                std::int64_t const (&run_step)[2], std::int64_t run);

  sums_of_rows across;  ///< takes all i together
  sums_of_rows along;   ///< takes one i after the other
};

/// The fold of products of a large block and a small one, for the host's kernel (fold_kernel.hpp). @pre a is at least
/// as large as b
template <class T>
struct sum_of_products {
  using value = T;
  using element = T;
  static constexpr int operands = 2;

  T const* a;
  T const* b;
  shared_block_folds<T> const* shared = nullptr;  ///< null: such blocks are folded like others
  bool is_cached = false;                         ///< the caches hold a

  T start() const { return T(0); }
  T const* lead() const { return a; }
  sum_of_products with_lead(T const* data) const { return {data, b, shared, is_cached}; }
  /// Returns the fold that adds the results of parts, as products with one, so that no other fold is compiled for them.
  sum_of_products of_parts(T const* data) const {
    static T const one(1);
    return {data, &one};
  }

  void across(T* sums, std::int64_t const (&at)[2], std::int64_t const* row_step, std::int64_t count,
              std::int64_t const (&run_step)[2], std::int64_t run) const {
    T const* x = a + at[0];
    T const* y = b + at[1];
    std::int64_t const x_next = run_step[0], y_next = run_step[1], x_step = row_step[0], y_step = row_step[1];
    if (has_wide_vectors()) {
      if (x_step == 1 && y_step == 0) return sum_scaled_rows(sums, count, x, x_next, y, y_next, run, is_cached);
      if (x_step == 0 && y_step == 1) return sum_scaled_rows(sums, count, y, y_next, x, x_next, run);
      if (shared != nullptr && shared->across(sums, x, y, {x_step, y_step}, count, run_step, run)) return;
    }
    for (std::int64_t r = 0; r < run; ++r, x += x_next, y += y_next)
      for (std::int64_t i = 0; i < count; ++i) sums[i] += x[i * x_step] * y[i * y_step];
  }

  void along(T* sums, std::int64_t const (&at)[2], std::int64_t const* row_step, std::int64_t count,
             std::int64_t const (&run_step)[2], std::int64_t run) const {
    T const* x = a + at[0];
    T const* y = b + at[1];
    std::int64_t const x_step = run_step[0], y_step = run_step[1];
    if (has_wide_vectors()) {
      if constexpr (std::is_arithmetic_v<T>)
        if (x_step == 1 && y_step == 1) return sum_run_products(sums, count, x, row_step[0], y, row_step[1], run);
      if (shared != nullptr && shared->along(sums, x, y, {row_step[0], row_step[1]}, count, run_step, run)) return;
    }
    for (std::int64_t i = 0; i < count; ++i, x += row_step[0], y += row_step[1]) {
      T side[fold_lanes];
      for (int l = 0; l < fold_lanes; ++l) side[l] = T(0);
      std::int64_t r = 0;
      for (; r + fold_lanes <= run; r += fold_lanes)
        for (int l = 0; l < fold_lanes; ++l) side[l] += x[(r + l) * x_step] * y[(r + l) * y_step];
      if (r > 0)
        for (int l = 0; l < fold_lanes; ++l) sums[i] += side[l];
      for (; r < run; ++r) sums[i] += x[r * x_step] * y[r * y_step];
    }
  }
};

template <class T>
bool sum_shared_rows(T* sums, T const* x, T const* y, std::int64_t const (&row_step)[2], std::int64_t count,
                     std::int64_t const (&run_step)[2], std::int64_t run) {
  std::int64_t const x_next = run_step[0], y_next = run_step[1];
  if (row_step[0] != 1) return false;
  if (row_step[1] == 1)
    sum_row_products(sums, count, x, x_next, y, y_next, run);
  else if (y_next == 1 && is_worth_transposing(run, count))
    for_each_transposed_tile(y, row_step[1], count, run, [=](transposed_tile<T> const& t) {
      sum_row_products(sums + t.i, t.rows, x + t.j * x_next + t.i, x_next, t.element, t.pitch, t.columns);
    });
  else
    return false;
  return true;
}

template <class T>
bool sum_shared_runs(T* sums, T const* x, T const* y, std::int64_t const (&row_step)[2], std::int64_t count,
                     std::int64_t const (&run_step)[2], std::int64_t run) {
  std::int64_t const x_next = row_step[0], y_step = run_step[1];
  if (run_step[0] != 1 || y_step <= 1 || row_step[1] != 1 || !is_worth_transposing(count, run)) return false;
  if (run < 2 * fold_lanes)  // too short for vectors along it
    for_each_transposed_tile(x, x_next, count, run, [=](transposed_tile<T> const& t) {
      sum_row_products(sums + t.i, t.rows, y + t.j * y_step + t.i, y_step, t.element, t.pitch, t.columns);
    });
  else
    for_each_transposed_tile(y, y_step, run, count, [=](transposed_tile<T> const& t) {
      std::int64_t const next[2] = {x_next, t.pitch};
      sum_of_products<T>{x, t.element}.along(sums + t.j, {t.j * x_next + t.i, 0}, next, t.columns, {1, 1}, t.rows);
    });
  return true;
}

template <class T>
inline constexpr shared_block_folds<T> shared_block_folds_of{&sum_shared_rows<T>, &sum_shared_runs<T>};

/// Products that are not summed: c <- alpha a b.
template <class T>
struct scaled_product {
  T alpha;
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const { return alpha * (a * b); }
};
template <class T>
inline constexpr bool is_worth_width<scaled_product<T>> = std::is_arithmetic_v<T>;

}  // namespace ostraka::engine::detail
