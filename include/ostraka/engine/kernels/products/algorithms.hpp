// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The ways in which the library can compute a contraction: as matrix products on the blocks as they lie, or
/// on panels of them gathered into scratch memory. A[I, J, K] B[K, J, L] -> C[I, L] is one product of (I) by (J K) by
/// (L) when J and K lie alike in both operands or one of them is gathered.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/blas/cblas.hpp>
#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/loop_nest.hpp>
#include <ostraka/engine/kernels/products/matrix_dimension.hpp>
#include <ostraka/engine/kernels/products/product_cost.hpp>

namespace ostraka::engine {

/// A way: which operands are gathered, which loops are the matrices' dimensions, and how the library sees the matrices.
//  gathered        m may join loops that    n ...                 k ...
//  -               A and C walk as one      B and C walk as one   A and B walk as one
//  A               C walks as one           B and C               B walks as one
//  A, B            C walks as one           C walks as one        any
//  A, B, C         any                      any                   any
struct contraction_plan {
  bool library = false;
  bool copied[3] = {false, false, false};  // a, b, c: whole, before (c: after) the products
  double turned[3] = {0, 0, 0};  // and where other elements then lie side by side, elements moved for one of it
  contraction problem;                     // with the strides of the copies
  bool pack[3] = {false, false, false};    // a, b, c
  bool by_rows = true;
  bool plain = false;        // products of matrices as they lie, one a task
  bool single = false;       // one of them and nothing else
  matrix_dimension m, n, k;  // steps and loops {a, c}, {b, c}, {a, b}
  matrix_view a, b, c;
  loop_nest<3> outer;        // {a, b, c}: the batch, and what m and n could not join
  double cost = 0;           // nanoseconds, roughly

  bool copies() const { return copied[0] || copied[1] || copied[2]; }

  /// Tasks that write different parts of C.
  std::int64_t tasks() const { return outer.size() * n.panels() * m.panels(); }
};

namespace detail {

/// Lines of a panel longer than this do not stay in a core's first cache while they are written at random.
inline constexpr std::int64_t longest_line = 2048;

/// Which operands are gathered, and which group of loops is which dimension.
struct plan_choice {
  bool pack[3];
  int group[3];  // m, n, k
};

/// The groups of loops that can be dimensions when these operands are gathered.
struct plan_groups {
  loop_groups m, n, k;
  plan_groups(product_loops const& loops, bool const (&pack)[3])
      : m(loops.m, !pack[0], !pack[2]), n(loops.n, !pack[1], !pack[2]), k(loops.k, !pack[0], !pack[1]) {}
};

/// A matrix whose two strides are given, as CBLAS sees it in row (or column) order; false if it does not fit.
inline bool view_matrix(bool by_rows, std::int64_t rows, std::int64_t columns, std::int64_t row_step,
                        std::int64_t column_step, matrix_view& view) {
  if (rows == 1) row_step = column_step == 1 ? columns : 1;
  if (columns == 1) column_step = row_step == 1 && rows > 1 ? rows : 1;
  if (column_step == 1 && row_step >= columns) view = {!by_rows, row_step};
  else if (row_step == 1 && column_step >= rows) view = {by_rows, column_step};
  else return false;
  return view.leading <= cblas_limit;
}

/// How the library sees an operand: where it lies, or as a panel whose contiguous side is the one on which the operand
/// has its smallest stride.
inline bool view_operand(bool packed, bool by_rows, matrix_dimension const& rows, int row_operand,
                         matrix_dimension const& columns, int column_operand, matrix_view& view) {
  if (!packed)
    return view_matrix(by_rows, rows.extent, columns.extent, rows.step(row_operand), columns.step(column_operand),
                       view);
  bool const contiguous_rows = columns.smallest_stride(column_operand) <= rows.smallest_stride(row_operand);
  view = {contiguous_rows != by_rows, contiguous_rows ? columns.padded_panel() : rows.padded_panel()};
  return view.leading <= cblas_limit;
}

/// Other way round: a panel whose lines are the other side of the matrix.
inline void turn_panel(bool by_rows, matrix_dimension const& rows, matrix_dimension const& columns, matrix_view& view) {
  view.transposed = !view.transposed;
  view.leading = view.transposed != by_rows ? columns.padded_panel() : rows.padded_panel();
}

/// Panels: of what is gathered, no more at once than stays in cache; of what is not, all that the library's int can
/// count.
template <class T>
void choose_panels(contraction_plan& plan, std::int64_t bytes) {
  std::int64_t const room = std::max<std::int64_t>(bytes / static_cast<std::int64_t>(sizeof(T)), 64);
  std::int64_t side = 8;
  while (side * side < room) side += 8;
  auto const beside = [&](std::int64_t other) { return std::max(side, room / std::max<std::int64_t>(other, 1)); };
  std::int64_t m = plan.m.extent, n = plan.n.extent, k = plan.k.extent;
  if (plan.pack[0] || plan.pack[1]) k = std::min(k, beside(std::max(plan.pack[0] ? m : 1, plan.pack[1] ? n : 1)));
  if (plan.pack[2]) n = std::min(n, beside(m));
  if (plan.pack[1]) n = std::min(n, beside(k));
  if (plan.pack[0]) m = std::min(m, beside(k));
  if (plan.pack[2]) m = std::min(m, beside(n));
  auto const limit = [](bool gathered) { return gathered ? std::min(cblas_limit, longest_line) : cblas_limit; };
  plan.m.cut(std::min(m, limit(plan.pack[0] || plan.pack[2])));
  plan.n.cut(std::min(n, limit(plan.pack[1] || plan.pack[2])));
  plan.k.cut(std::min(k, limit(plan.pack[0] || plan.pack[1])));
}

/// Small products of this pair of layouts (both operands with their lines along k) the library does less well than the
/// other three.
template <class T>
bool is_slow_pair(contraction_plan const& p) {
  bool const along_k = p.a.transposed != p.by_rows && p.b.transposed == p.by_rows;
  return along_k && std::min(p.m.panel, p.n.panel) >= 4 && p.m.panel * p.n.panel * p.k.panel <= small_product;
}

/// Fills the plan for this choice, without its cost; false if the library cannot see an operand where it lies.
template <class T>
bool complete_plan(contraction_plan& plan, plan_groups const& groups, plan_choice const& choice, std::int64_t bytes) {
  plan.library = true;
  for (int o = 0; o < 3; ++o) plan.pack[o] = choice.pack[o];
  plan.m = groups.m.dimension(choice.group[0]);
  plan.n = groups.n.dimension(choice.group[1]);
  plan.k = groups.k.dimension(choice.group[2]);
  choose_panels<T>(plan, bytes);
  bool const c_by_rows = plan.n.smallest_stride(1) <= plan.m.smallest_stride(1);
  for (bool const by_rows : {c_by_rows, !c_by_rows}) {
    plan.by_rows = by_rows;
    if (!view_operand(plan.pack[2], by_rows, plan.m, 1, plan.n, 1, plan.c) || plan.c.transposed) continue;
    if (!view_operand(plan.pack[0], by_rows, plan.m, 0, plan.k, 0, plan.a) ||
        !view_operand(plan.pack[1], by_rows, plan.k, 1, plan.n, 0, plan.b))
      continue;
    if (is_slow_pair<T>(plan) && plan.pack[1]) turn_panel(by_rows, plan.k, plan.n, plan.b);
    else if (is_slow_pair<T>(plan) && plan.pack[0]) turn_panel(by_rows, plan.m, plan.k, plan.a);
    return true;
  }
  return false;
}

/// The loops around the matrices that write different parts of C.
inline void complete_outer_loops(contraction_plan& plan, product_loops const& loops) {
  plan.outer = loops.batch;
  for (int d = 0; d < plan.m.outer.rank; ++d)
    plan.outer.add(plan.m.outer.extent[d], plan.m.outer.stride[0][d], std::int64_t(0), plan.m.outer.stride[1][d]);
  for (int d = 0; d < plan.n.outer.rank; ++d)
    plan.outer.add(plan.n.outer.extent[d], std::int64_t(0), plan.n.outer.stride[0][d], plan.n.outer.stride[1][d]);
  bool const packs = plan.pack[0] || plan.pack[1] || plan.pack[2];
  plan.plain = !packs && plan.m.panels() * plan.n.panels() * plan.k.panels() == 1 && plan.k.outer.rank == 0;
  plan.single = plan.plain && plan.outer.size() == 1;
}

}  // namespace detail

}  // namespace ostraka::engine
