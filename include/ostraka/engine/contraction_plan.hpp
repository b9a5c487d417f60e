// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. How a contraction is computed here: as matrix products on the blocks as they lie, after packing some of them, or by our own kernel.
/// A[I, J, K] B[K, J, L] -> C[I, L] becomes one product of (I) by (J K) by (L) when J and K lie alike in both operands, J products otherwise.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <ostraka/engine/blas/cblas.hpp>
#include <ostraka/engine/contraction_labels.hpp>

namespace ostraka::engine {

/// One matrix product inside the loops: which loop of each nest is a dimension of the matrices (-1: extent 1), and how CBLAS sees them.
struct matrix_product {
  int m_loop = -1, n_loop = -1, k_loop = -1;
  std::int64_t m = 1, n = 1, k = 1;
  bool by_rows = true;
  matrix_view a, b;
  std::int64_t c_leading = 1;
};

/// The way chosen. `problem` has the strides after packing.
struct contraction_plan {
  bool library = false;
  bool pack[3] = {false, false, false};  // a, b, c
  contraction problem;
  product_loops loops;
  matrix_product product;
};

namespace detail {

/// Costs in units of one multiply-add of our kernel, roughly a quarter of a nanosecond. Only their ratios matter, and those only near the border.
inline constexpr double cost_of_call = 3000;
inline constexpr double cost_of_packing_an_element = 6;
inline constexpr double speed_of_library = 8;

/// A matrix whose two strides are given, as CBLAS sees it in row (or column) order; false if it does not fit.
inline bool view_matrix(bool by_rows, std::int64_t rows, std::int64_t columns, std::int64_t row_step, std::int64_t column_step, matrix_view& view) {
  if (rows == 1) row_step = column_step == 1 ? columns : 1;
  if (columns == 1) column_step = row_step == 1 && rows > 1 ? rows : 1;
  if (column_step == 1 && row_step >= columns) view = {!by_rows, row_step};
  else if (row_step == 1 && column_step >= rows) view = {by_rows, column_step};
  else return false;
  return std::max({rows, columns, view.leading}) <= cblas_limit;
}

/// Fills the rest of `p`, whose loops have been chosen; false if the matrices do not fit.
inline bool view_product(product_loops const& loops, matrix_product& p) {
  auto const stride = [](auto const& nest, int operand, int loop) { return loop < 0 ? 0 : nest.stride[operand][loop]; };
  p.m = p.m_loop < 0 ? 1 : loops.m.extent[p.m_loop];
  p.n = p.n_loop < 0 ? 1 : loops.n.extent[p.n_loop];
  p.k = p.k_loop < 0 ? 1 : loops.k.extent[p.k_loop];
  for (bool const by_rows : {true, false}) {
    matrix_view c;
    if (view_matrix(by_rows, p.m, p.n, stride(loops.m, 1, p.m_loop), stride(loops.n, 1, p.n_loop), c) && !c.transposed &&
        view_matrix(by_rows, p.m, p.k, stride(loops.m, 0, p.m_loop), stride(loops.k, 0, p.k_loop), p.a) &&
        view_matrix(by_rows, p.k, p.n, stride(loops.k, 1, p.k_loop), stride(loops.n, 0, p.n_loop), p.b)) {
      p.by_rows = by_rows;
      p.c_leading = c.leading;
      return true;
    }
  }
  return false;
}

/// The cost of all products over these loops, calls included; small extents are as slow as the library's smallest tile.
inline double cost_of(product_loops const& loops, matrix_product const& p) {
  double const all = static_cast<double>(loops.batch.size()) * static_cast<double>(loops.m.size() / p.m) *
                     static_cast<double>(loops.n.size() / p.n) * static_cast<double>(loops.k.size() / p.k);
  double const each = static_cast<double>(std::max<std::int64_t>(p.m, 8)) * static_cast<double>(std::max<std::int64_t>(p.n, 8)) *
                      static_cast<double>(std::max<std::int64_t>(p.k, 4));
  return all * (cost_of_call + each / speed_of_library);
}

/// The cheapest choice of a loop for each dimension of the matrices; negative if there is none.
inline double choose_product(product_loops const& loops, matrix_product& best) {
  double cheapest = -1;
  for (int m = std::min(loops.m.rank, 1) - 1; m < loops.m.rank; ++m)
    for (int n = std::min(loops.n.rank, 1) - 1; n < loops.n.rank; ++n)
      for (int k = std::min(loops.k.rank, 1) - 1; k < loops.k.rank; ++k) {
        matrix_product candidate;
        candidate.m_loop = m;
        candidate.n_loop = n;
        candidate.k_loop = k;
        if (!view_product(loops, candidate)) continue;
        double const cost = cost_of(loops, candidate);
        if (cheapest < 0 || cost < cheapest) {
          cheapest = cost;
          best = candidate;
        }
      }
  return cheapest;
}

/// Gives an operand gapless strides: batch labels first, then its two groups, the one with its smallest stride last so that packing walks memory
/// forward; within a group the order of the operand that shares the group, so that its labels join.
inline void pack_strides(contraction& p, operand which) {
  auto const partner = [&](int l) {
    switch (class_of(p, l)) {
      case label_class::batch: return which == operand::c ? operand::a : operand::c;
      case label_class::m: return which == operand::a ? operand::c : operand::a;
      case label_class::n: return which == operand::b ? operand::c : operand::b;
      default: return which == operand::a ? operand::b : operand::a;
    }
  };
  int order[max_loops];
  int count = 0;
  int smallest = -1;
  std::int64_t* const stride = strides_of(p, which);
  for (int l = 0; l < p.labels; ++l) {
    if (!presence_of(p, which)[l]) continue;
    order[count++] = l;
    if (p.extent[l] > 1 && class_of(p, l) != label_class::batch && (smallest < 0 || stride[l] < stride[smallest])) smallest = l;
  }
  auto const group = [&](int l) {
    if (class_of(p, l) == label_class::batch) return 0;
    return smallest >= 0 && class_of(p, l) == class_of(p, smallest) ? 2 : 1;
  };
  std::sort(order, order + count, [&](int l, int r) {
    std::int64_t const l_step = strides_of(p, partner(l))[l], r_step = strides_of(p, partner(r))[r];
    if (group(l) != group(r)) return group(l) < group(r);
    return l_step != r_step ? l_step > r_step : l < r;
  });
  std::int64_t step = 1;
  for (int i = count - 1; i >= 0; --i) {
    stride[order[i]] = step;
    step *= p.extent[order[i]];
  }
}

}  // namespace detail

/// The cheapest way by an estimate of its time. @pre no label is in one operand alone; no extent is 0
template <class T>
contraction_plan plan_contraction(contraction const& problem) {
  contraction_plan plan;
  plan.problem = problem;
  plan.loops = loops_of(problem);
  std::int64_t const m = plan.loops.m.size(), n = plan.loops.n.size(), k = plan.loops.k.size();
  double cheapest = static_cast<double>(plan.loops.batch.size()) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  bool const matrices = m > 1 && n > 1 && k > 1;
  if (!has_cblas_gemm<T> || !matrices || cheapest < detail::cost_of_call) return plan;

  for (int packed = 0; packed < 8; ++packed) {
    contraction_plan candidate;
    candidate.library = true;
    candidate.problem = problem;
    double cost = 0;
    for (operand const which : {operand::c, operand::a, operand::b}) {
      int const o = static_cast<int>(which);
      candidate.pack[o] = (packed >> o & 1) != 0;
      if (candidate.pack[o]) cost += detail::cost_of_packing_an_element * static_cast<double>(block_of(problem, which).size());
    }
    if (cost >= cheapest) continue;
    for (operand const which : {operand::c, operand::a, operand::b})
      if (candidate.pack[static_cast<int>(which)]) detail::pack_strides(candidate.problem, which);
    candidate.loops = loops_of(candidate.problem);
    double const products = detail::choose_product(candidate.loops, candidate.product);
    if (products < 0 || cost + products >= cheapest) continue;
    cheapest = cost + products;
    plan = candidate;
  }
  return plan;
}

}  // namespace ostraka::engine
