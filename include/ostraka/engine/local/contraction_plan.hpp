// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. How a contraction is computed here: as matrix products on the blocks as they lie, on panels of them gathered into scratch memory, or by our
/// own kernels. A[I, J, K] B[K, J, L] -> C[I, L] is one product of (I) by (J K) by (L) when J and K lie alike in both operands or one of them is gathered.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/local/blas/cblas.hpp>
#include <ostraka/engine/local/contraction_labels.hpp>
#include <ostraka/engine/local/kernel_cost.hpp>
#include <ostraka/engine/local/matrix_dimension.hpp>
#include <ostraka/engine/local/product_cost.hpp>
#include <ostraka/engine/local/whole_packing.hpp>

namespace ostraka::engine {

/// The way chosen: which operands are gathered, which loops are the matrices' dimensions, and how the library sees the matrices.
//  gathered        m may join loops that    n ...                 k ...
//  -               A and C walk as one      B and C walk as one   A and B walk as one
//  A               C walks as one           B and C               B walks as one
//  A, B            C walks as one           C walks as one        any
//  A, B, C         any                      any                   any
struct contraction_plan {
  bool library = false;
  bool copied[3] = {false, false, false};  // a, b, c: whole, before (c: after) the products
  bool turned[3] = {false, false, false};  // copied so that other elements lie side by side
  contraction problem;                     // with the strides of the copies
  bool pack[3] = {false, false, false};  // a, b, c
  bool by_rows = true;
  bool plain = false;          // products of matrices as they lie, one a task
  bool single = false;         // one of them and nothing else
  matrix_dimension m, n, k;    // steps and loops {a, c}, {b, c}, {a, b}
  matrix_view a, b, c;
  loop_nest<3> outer;          // {a, b, c}: the batch, and what m and n could not join
  double cost = 0;             // nanoseconds, roughly

  bool copies() const { return copied[0] || copied[1] || copied[2]; }

  /// Tasks that write different parts of C.
  std::int64_t tasks() const { return outer.size() * n.panels() * m.panels(); }
};

namespace detail {

/// Panels larger than a core's second cache, because what is gathered twice costs more than what comes from the third.
inline constexpr std::int64_t panel_bytes = 4 << 20;

/// Products of this size that lie as the library likes them are the library's: an estimate is no match for those who tuned it.
inline constexpr std::int64_t library_side = 128;

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
inline bool view_matrix(bool by_rows, std::int64_t rows, std::int64_t columns, std::int64_t row_step, std::int64_t column_step, matrix_view& view) {
  if (rows == 1) row_step = column_step == 1 ? columns : 1;
  if (columns == 1) column_step = row_step == 1 && rows > 1 ? rows : 1;
  if (column_step == 1 && row_step >= columns) view = {!by_rows, row_step};
  else if (row_step == 1 && column_step >= rows) view = {by_rows, column_step};
  else return false;
  return view.leading <= cblas_limit;
}

/// How the library sees an operand: where it lies, or as a panel whose contiguous side is the one on which the operand has its smallest stride.
inline bool view_operand(bool packed, bool by_rows, matrix_dimension const& rows, int row_operand, matrix_dimension const& columns, int column_operand,
                         matrix_view& view) {
  if (!packed) return view_matrix(by_rows, rows.extent, columns.extent, rows.step(row_operand), columns.step(column_operand), view);
  bool const contiguous_rows = columns.smallest_stride(column_operand) <= rows.smallest_stride(row_operand);
  view = {contiguous_rows != by_rows, contiguous_rows ? columns.padded_panel() : rows.padded_panel()};
  return view.leading <= cblas_limit;
}

/// Other way round: a panel whose lines are the other side of the matrix.
inline void turn_panel(bool by_rows, matrix_dimension const& rows, matrix_dimension const& columns, matrix_view& view) {
  view.transposed = !view.transposed;
  view.leading = view.transposed != by_rows ? columns.padded_panel() : rows.padded_panel();
}

/// Panels: of what is gathered, no more at once than stays in cache; of what is not, all that the library's int can count.
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

/// Small products of this pair of layouts (both operands with their lines along k) the library does less well than the other three.
template <class T>
bool is_slow_pair(contraction_plan const& p) {
  bool const along_k = p.a.transposed != p.by_rows && p.b.transposed == p.by_rows;
  return along_k && std::min(p.m.panel, p.n.panel) >= 4 && p.m.panel * p.n.panel * p.k.panel <= small_product;
}

/// Cache lines fetched an element of a panel beyond what would do: all of a line but one element is lost where the loop along it is not in the panel.
template <class T>
double lost_lines(loop_nest<3> const& batch, int of_batch, matrix_dimension const& d, int o, matrix_dimension const& e, int p) {
  std::int64_t outside = std::min(d.smallest_outside(o), e.smallest_outside(p));
  for (int l = 0; l < batch.rank; ++l) outside = std::min(outside, batch.stride[of_batch][l]);
  bool const along_d = d.smallest_stride(o) < e.smallest_stride(p);
  std::int64_t const inside = along_d ? d.smallest_stride(o) : e.smallest_stride(p);
  double const covered = outside < inside ? 1 : static_cast<double>(along_d ? d.covered(o) : e.covered(p));
  double const line = 64 / static_cast<double>(sizeof(T));
  return std::max(1 / covered, 1 / line) - 1 / line;
}

/// How often each thing is done along the plan, whose panels and views are known. An operand's panel is gathered again whenever another one was needed in
/// between.
template <class T>
cost_counts counts_of(contraction_plan const& plan, product_loops const& loops) {
  auto const real = [](std::int64_t x) { return static_cast<double>(x); };
  auto const each = [&](matrix_dimension const& d) { return real(d.extent) / real(d.panels()); };
  double const batch = real(loops.batch.size()), m_outer = real(plan.m.outer.size()), n_outer = real(plan.n.outer.size());
  double const m_pieces = m_outer * real(plan.m.panels()), n_pieces = n_outer * real(plan.n.panels()), k_pieces = real(plan.k.outer.size() * plan.k.panels());
  double const m = m_outer * real(plan.m.extent), n = n_outer * real(plan.n.extent), k = real(plan.k.outer.size() * plan.k.extent);
  cost_counts counts;
  count_products<T>(counts, batch * m_pieces * n_pieces * k_pieces, {each(plan.m), each(plan.n), each(plan.k)}, plan.by_rows ? each(plan.n) : each(plan.m));
  if (is_slow_pair<T>(plan)) counts.add(cost::slow_pair, work_factor<T> * batch * m * n * k);

  double const size = static_cast<double>(sizeof(T));
  bool const lone = m == 1 || n == 1;
  auto const move = [&](int operand, matrix_view const& view, double elements, double again, double uses, matrix_dimension const& d, int o,
                        matrix_dimension const& e, int p) {
    bool const far = elements * size > near_bytes;
    double const ways = operand == 2 ? 2 : 1;  // a result is read before it is written
    if (plan.copied[operand]) {
      counts.add(cost::setting_up, 1);
      counts.add(plan.turned[operand] ? cost::turned : cost::copied, size_factor<T> * elements);
      count_stream<T>(counts, 3 * elements, elements, lone);
    }
    if (!plan.pack[operand]) {
      double const row = each(view.transposed != plan.by_rows ? e : d);
      count_stream<T>(counts, ways * uses * elements, elements, lone);
      if (far && row * size < 4096 && real(view.leading) * size >= 4096) counts.add(cost::far_row, uses * elements / row);
      return;
    }
    double const lines = again * elements * lost_lines<T>(loops.batch, operand, d, o, e, p);
    counts.add(cost::setting_up, 1);
    counts.add(std::max(d.run(o), e.run(p)) >= 4 ? cost::moved : cost::moved_alone, size_factor<T> * again * elements);
    counts.add(far ? cost::far_line : cost::near_line, lines);
    count_stream<T>(counts, ways * again * elements, elements, lone);
  };
  double const a_again = plan.m.panels() == 1 && k_pieces == 1 ? 1 : n_pieces;
  double const b_again = k_pieces > 1 ? m_pieces : n_pieces > 1 ? m_outer : 1;
  move(0, plan.a, batch * m * k, a_again, n_pieces, plan.m, 0, plan.k, 0);
  move(1, plan.b, batch * k * n, b_again, m_pieces, plan.k, 1, plan.n, 0);
  move(2, plan.c, batch * m * n, 1, k_pieces, plan.m, 1, plan.n, 1);
  return counts;
}

/// Fills the plan for this choice; false if the library cannot see an operand where it lies.
template <class T>
bool complete_plan(contraction_plan& plan, product_loops const& loops, plan_groups const& groups, plan_choice const& choice, std::int64_t bytes) {
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
    if (!view_operand(plan.pack[0], by_rows, plan.m, 0, plan.k, 0, plan.a) || !view_operand(plan.pack[1], by_rows, plan.k, 1, plan.n, 0, plan.b))
      continue;
    if (is_slow_pair<T>(plan) && plan.pack[1]) turn_panel(by_rows, plan.k, plan.n, plan.b);
    else if (is_slow_pair<T>(plan) && plan.pack[0]) turn_panel(by_rows, plan.m, plan.k, plan.a);
    plan.cost = counts_of<T>(plan, loops).nanoseconds();
    return true;
  }
  return false;
}

/// The loops around the matrices that write different parts of C.
inline void complete_outer_loops(contraction_plan& plan, product_loops const& loops) {
  plan.outer = loops.batch;
  for (int d = 0; d < plan.m.outer.rank; ++d) plan.outer.add(plan.m.outer.extent[d], plan.m.outer.stride[0][d], std::int64_t(0), plan.m.outer.stride[1][d]);
  for (int d = 0; d < plan.n.outer.rank; ++d) plan.outer.add(plan.n.outer.extent[d], std::int64_t(0), plan.n.outer.stride[0][d], plan.n.outer.stride[1][d]);
  bool const packs = plan.pack[0] || plan.pack[1] || plan.pack[2];
  plan.plain = !packs && plan.m.panels() * plan.n.panels() * plan.k.panels() == 1 && plan.k.outer.rank == 0;
  plan.single = plan.plain && plan.outer.size() == 1;
}

/// The cheapest plan in which these operands are gathered; `plan` stays if none is cheaper.
template <class T>
void try_packing(contraction_plan& plan, contraction_plan& candidate, product_loops const& loops, int packed, std::int64_t bytes) {
  plan_choice choice{{(packed & 1) != 0, (packed & 2) != 0, (packed & 4) != 0}, {0, 0, 0}};
  plan_groups const groups(loops, choice.pack);
  for (choice.group[0] = 0; choice.group[0] < groups.m.count; ++choice.group[0])
    for (choice.group[1] = 0; choice.group[1] < groups.n.count; ++choice.group[1])
      for (choice.group[2] = 0; choice.group[2] < groups.k.count; ++choice.group[2]) {
        if (!complete_plan<T>(candidate, loops, groups, choice, bytes) || (plan.library && candidate.cost >= plan.cost)) continue;
        plan = candidate;
        complete_outer_loops(plan, loops);
      }
}

/// The label along which an operand takes its smallest steps; -1 if there is none.
inline int smallest_label(contraction const& p, operand which) {
  int found = -1;
  for (int l = 0; l < p.labels; ++l)
    if (presence_of(p, which)[l] && p.extent[l] > 1 && (found < 0 || strides_of(p, which)[l] < strides_of(p, which)[found])) found = l;
  return found;
}

/// The cheapest plan in which these operands are copied whole and those are gathered (bits 0, 1, 2: a, b, c); `plan` stays if none is cheaper.
template <class T>
void try_copying(contraction_plan& plan, contraction const& problem, int copied, int packed, std::int64_t bytes = panel_bytes) {
  contraction_plan candidate;
  candidate.problem = problem;
  for (operand const which : {operand::c, operand::a, operand::b}) {
    candidate.copied[static_cast<int>(which)] = (copied >> static_cast<int>(which) & 1) != 0;
    if (!candidate.copied[static_cast<int>(which)]) continue;
    pack_strides(candidate.problem, which);
    candidate.turned[static_cast<int>(which)] = smallest_label(candidate.problem, which) != smallest_label(problem, which);
  }
  try_packing<T>(plan, candidate, loops_of(candidate.problem), packed, bytes);
}

}  // namespace detail

/// The cheapest way by an estimate of its time. @pre no label is in one operand alone; no extent is 0
template <class T>
contraction_plan plan_contraction(contraction const& problem) {
  contraction_plan plan;
  if (!has_cblas_gemm<T>) return plan;
  product_loops const loops = loops_of(problem);
  std::int64_t const m = loops.m.size(), n = loops.n.size(), k = loops.k.size(), batch = loops.batch.size();
  if (k == 1 || (m == 1 && n == 1)) return plan;  // nothing for the library: elementwise and outer products, sums of products
  detail::try_copying<T>(plan, problem, 0, 0);
  if (plan.library && std::min({plan.m.extent, plan.n.extent, plan.k.extent}) >= detail::library_side) return plan;
  auto const real = [](std::int64_t x) { return static_cast<double>(x); };
  detail::cost_counts products;
  detail::count_products<T>(products, real(batch), {real(m), real(n), real(k)}, real(n));
  for (std::int64_t const elements : {m * k, k * n, m * n, m * n})  // a result is read and written
    detail::count_stream<T>(products, real(batch * elements), real(batch * elements), m == 1 || n == 1);
  double const at_best = products.nanoseconds(), by_ourselves = detail::counts_of_our_kernels<T>(loops).nanoseconds();
  if (by_ourselves <= at_best) return contraction_plan();
  auto const good_enough = [&] { return plan.library && plan.cost <= 1.1 * at_best; };
  for (int packed = 1; packed < 8 && !good_enough(); ++packed) detail::try_copying<T>(plan, problem, 0, packed);
  for (int copied = 1; copied < 8 && !good_enough(); ++copied)
    for (int packed = 0; packed < 8; ++packed)
      if ((packed & copied) == 0) detail::try_copying<T>(plan, problem, copied, packed);
  if (plan.library && plan.cost > by_ourselves) plan = contraction_plan();
  return plan;
}

}  // namespace ostraka::engine
