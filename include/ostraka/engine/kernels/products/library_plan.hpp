// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A contraction as products of a library of matrix products: one loop of each class is a dimension of the
/// matrices, the others are loops around the products. A[I, J, K] B[K, J, L] -> C[I, L] is a sum over J of products of
/// (I) by (K) by (L); or one product of (I) by (J K) by (L) if B is copied first, so that J and K have the same order
/// in A and B.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/blas/matrix_product.hpp>
#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/portable/arranged_product.hpp>
#include <ostraka/engine/kernels/products/copied_layout.hpp>

namespace ostraka::engine {

/// The plan of a contraction: by a library, or (library = false) by our own kernels.
struct contraction_plan {
  bool library = false;
  bool copied[3] = {false, false, false};  // a, b, c: copied whole, before (c: after) the products
  contraction problem;                     // with the strides of the copies
  matrix_product product;
  loop_nest<3> outer;    // {a, b, c}: products that write different parts of C, beside the product's own batch
  loop_nest<2> summed;   // {a, b}: products that are added
  double cost = 0;       // as in product_cost.hpp
  detail::arranged_product ours;  // if not by a library: for our own kernels

  bool copies() const { return copied[0] || copied[1] || copied[2]; }

  /// Returns the number of products that write different parts of C.
  std::int64_t products() const { return outer.size() * product.batch; }
  std::int64_t multiplications() const { return products() * summed.size() * product.m * product.n * product.k; }
};

namespace detail {

/// One loop of a nest as a dimension of the matrices; extent 1 for a nest without loops.
struct matrix_dimension {
  std::int64_t extent = 1;
  std::int64_t step[2] = {0, 0};  // in the nest's two operands

  matrix_dimension(loop_nest<2> const& loops, int d) {
    if (d >= loops.rank) return;
    extent = loops.extent[d];
    for (int o = 0; o < 2; ++o) step[o] = loops.stride[o][d];
  }
};

/// Sets the view of a matrix with these two strides in the form that libraries take, by rows or by columns; false if it
/// has no such form.
inline bool view_matrix(bool by_rows, std::int64_t rows, std::int64_t columns, std::int64_t row_step,
                        std::int64_t column_step, std::int64_t limit, matrix_view& view) {
  if (rows == 1) row_step = column_step == 1 ? columns : 1;
  if (columns == 1) column_step = row_step == 1 && rows > 1 ? rows : 1;
  if (column_step == 1 && row_step >= columns) view = {!by_rows, row_step};
  else if (row_step == 1 && column_step >= rows) view = {by_rows, column_step};
  else return false;
  return std::max({view.leading, rows, columns}) <= limit;
}

/// Views the three blocks as matrices of these dimensions; false if the library cannot.
[[gnu::cold]] inline bool view_operands(matrix_product& p, matrix_dimension const& m, matrix_dimension const& n,
                                        matrix_dimension const& k, std::int64_t limit) {
  p.m = m.extent, p.n = n.extent, p.k = k.extent;
  bool const c_by_rows = m.extent == 1 || (n.extent > 1 && n.step[1] <= m.step[1]);
  for (bool const by_rows : {c_by_rows, !c_by_rows}) {
    matrix_view c;
    p.by_rows = by_rows;
    if (!view_matrix(by_rows, p.m, p.n, m.step[1], n.step[1], limit, c) || c.transposed) continue;
    p.c_leading = c.leading;
    if (view_matrix(by_rows, p.m, p.k, m.step[0], k.step[0], limit, p.a) &&
        view_matrix(by_rows, p.k, p.n, k.step[1], n.step[0], limit, p.b))
      return true;
  }
  return false;
}

/// Sets the loops around the matrices. The longest loop that writes different parts of C becomes the batch of a
/// product.
[[gnu::cold]] inline void complete_loops(contraction_plan& plan, product_loops const& loops, int const (&chosen)[3]) {
  plan.summed = {};
  for (int d = 0; d < loops.k.rank; ++d)
    if (d != chosen[2]) plan.summed.add(loops.k.extent[d], loops.k.stride[0][d], loops.k.stride[1][d]);
  plan.outer = loops.batch;
  for (int d = 0; d < loops.m.rank; ++d)
    if (d != chosen[0])
      plan.outer.add(loops.m.extent[d], loops.m.stride[0][d], std::int64_t(0), loops.m.stride[1][d]);
  for (int d = 0; d < loops.n.rank; ++d)
    if (d != chosen[1])
      plan.outer.add(loops.n.extent[d], std::int64_t(0), loops.n.stride[0][d], loops.n.stride[1][d]);
  plan.product.batch = 1;
  if (plan.outer.rank == 0) return;
  int longest = 0;
  for (int d = 1; d < plan.outer.rank; ++d)
    if (plan.outer.extent[d] >= plan.outer.extent[longest]) longest = d;
  plan.product.batch = plan.outer.extent[longest];
  for (int o = 0; o < 3; ++o) plan.product.step[o] = plan.outer.stride[o][longest];
  plan.outer.remove(longest);
}

/// Calls f(plan) for every choice of dimensions with which the library can compute the problem with these operands
/// copied (bits 0, 1, 2: a, b, c).
template <class F>
[[gnu::cold]] void for_each_library_plan(contraction const& problem, int copied, std::int64_t limit, F const& f) {
  contraction_plan plan;
  plan.library = true;
  plan.problem = problem;
  for (operand const which : {operand::c, operand::a, operand::b}) {
    plan.copied[static_cast<int>(which)] = (copied >> static_cast<int>(which) & 1) != 0;
    if (plan.copied[static_cast<int>(which)]) pack_strides(plan.problem, which);
  }
  product_loops const loops = loops_of(plan.problem);
  int const count[3] = {std::max(1, loops.m.rank), std::max(1, loops.n.rank), std::max(1, loops.k.rank)};
  int chosen[3];
  for (chosen[0] = 0; chosen[0] < count[0]; ++chosen[0])
    for (chosen[1] = 0; chosen[1] < count[1]; ++chosen[1])
      for (chosen[2] = 0; chosen[2] < count[2]; ++chosen[2]) {
        matrix_dimension const m(loops.m, chosen[0]), n(loops.n, chosen[1]), k(loops.k, chosen[2]);
        if (!view_operands(plan.product, m, n, k, limit)) continue;
        complete_loops(plan, loops, chosen);
        f(plan);
      }
}

}  // namespace detail
}  // namespace ostraka::engine
